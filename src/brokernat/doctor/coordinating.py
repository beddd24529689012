"""What the checks of coordinators share: whether this client can use the node that a bootstrap server names."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Advertised, Evidence
from brokernat.doctor.finding import Finding, Remedy, Severity
from brokernat.doctor.reading import unreachable

_BECAUSE = (
    "BN104", "BN105", "BN201", "BN204", "BN301", "BN302", "BN305", "BN401", "BN402", "BN403", "BN404", "BN405", "BN501",
    "BN502", "BN601", "BN602", "BN603", "BN605",
)  # fmt: skip


def coordinators_out_of_reach(evidence: Evidence, kind: str, code: str) -> Iterator[Finding]:
    """A finding for each coordinator of a kind that this client cannot use."""
    for each in evidence.coordinators:
        if each.kind != kind or each.broker is None:
            continue
        reason = _barred(evidence, each.broker)
        if reason is not None:
            message = f"its coordinator is node {each.broker.node_id} at {each.broker.endpoint}: {reason}"
            remedy = Remedy(broker=(f"let clients reach node {each.broker.node_id} as they reach the others",))
            yield Finding(code, Severity.ERROR, each.subject, message, because=_BECAUSE, remedy=remedy)


def _barred(evidence: Evidence, broker: Advertised) -> str | None:
    path = next((each for each in evidence.paths if each.broker == broker), None)
    if path is None:
        return "it is not among the brokers that are advertised"
    if path.look is None:
        return "nothing is dialled for it" if evidence.rules is None else "no rule of the address map names it"
    if not path.look.complete and not path.look.answers and unreachable(path.look) is None:
        # The time ran out on the way: that is nothing against the node.
        return None
    identity = path.look.identity
    if identity is not None and identity.node_id not in (None, broker.node_id):
        return f"node {identity.node_id} answers there"
    return unreachable(path.look) or (None if path.look.answers else "it does not let this client in")
