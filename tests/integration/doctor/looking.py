"""A look at real brokers as a report has it: through a file that holds no secret."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from brokernat.config import Cluster, Secret
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Evidence, from_json, to_json
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.collecting import collect

TIMEOUT = 60


def looked_at(
    cluster: Cluster,
    *,
    groups: Iterable[str] = (),
    transactional_ids: Iterable[str] = (),
    topics: Sequence[str] = (),
    token_command: str | None = None,
) -> Evidence:
    """The evidence of a client."""
    found = collect(
        cluster,
        TIMEOUT,
        groups=groups,
        transactional_ids=transactional_ids,
        topics=topics,
        token_command=token_command,
    )
    saved = to_json(found)
    secrets = (each.reveal() for each in cluster.client.values() if isinstance(each, Secret))
    assert not any(secret in saved for secret in secrets if secret != "testbed")
    return from_json(saved, "saved")


def problems(evidence: Evidence) -> set[str]:
    """The codes of errors and warnings."""
    return {each.code for each in diagnose(evidence).findings if each.severity is not Severity.INFO}
