"""What: a compose file publishes another port than the one that the broker advertises.
Why: who comes from outside dials the host's port. Where that is not published, nobody listens; where it leads to
another listener, clients are told that one's endpoints.
Remedy: publish the advertised port as the listener's own: `ADVERTISED:BOUND`.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import BrokerListeners, Listener, serving
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity
from brokernat.doctor.places import inside_name, is_loopback

CODE = "BN827"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in serving(evidence):
        for each in broker.advertised:
            if each.host and not inside_name(each.host):
                yield from _one(broker, each)


def _one(broker: BrokerListeners, told: Listener) -> Iterator[Finding]:
    published = broker.file.published
    bound = next((each.port for each in broker.listeners if each.name == told.name), None)
    if published is None or bound is None:
        return
    leads_to = [inside for inside, outside in published if outside == told.port]
    remedy = Remedy(broker=(f'publish it: `ports: ["{told.port}:{bound}"]`',))
    if leads_to and bound not in leads_to:
        other = next((each.name for each in broker.listeners if each.port == leads_to[0]), "no listener")
        message = f"{told} is advertised, and the host's port {told.port} leads to {leads_to[0]}, {other}"
        yield Finding(CODE, Severity.ERROR, broker.name, message, _seen(published), remedy=remedy)
    elif not leads_to and is_loopback(told.host):
        # Another machine's name may be that of a gateway, whose ports are its own.
        message = f"{told} is advertised, and the host's port {told.port} is not published"
        yield Finding(CODE, Severity.WARNING, broker.name, message, _seen(published), remedy=remedy)


def _seen(published: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    return (f"published: {', '.join(f'{outside}:{inside}' for inside, outside in published) or 'nothing'}",)


CHECK = Check(
    CODE,
    "A port is advertised that leads elsewhere",
    "The ports that are published do not lead to the listeners that advertise them: {subjects}.",
    _find,
    (Need.FILES,),
)
