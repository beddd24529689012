"""What: the controllers' listener is missing, is bound where it must not be, or is advertised to brokers and clients.
Why: in KRaft `controller.listener.names` says which listeners are the quorum's. Nodes with the controller role bind
them, mere brokers only dial them; a broker that breaks this does not start. The names are compared as written, not in
upper case.
Remedy: as the finding says.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import BrokerListeners, all_listeners
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Need, Remedy, Severity

CODE = "BN823"
_SETTING = "controller.listener.names"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for broker in all_listeners(evidence):
        if broker.is_kraft:
            yield from _kraft(broker)
        elif broker.controllers:
            message = f"`{_SETTING}` without `process.roles`: a broker of ZooKeeper's refuses it"
            remedy = Remedy(broker=("set `process.roles`, or take it out (a migration to KRaft needs it)",))
            yield Finding(CODE, Severity.ERROR, broker.name, message, remedy=remedy, confidence=Confidence.LIKELY)


def _kraft(broker: BrokerListeners) -> Iterator[Finding]:
    bound = {each.name for each in broker.listeners}
    absent = [name for name in broker.controllers if name not in bound]
    present = [name for name in broker.controllers if name in bound]
    others = [each.name for each in broker.of_clients()]
    told = [str(each) for each in broker.advertised_setting or () if each.name in broker.controllers]
    if not broker.controllers:
        yield _error(broker, f"`{_SETTING}` is not set", f"set `{_SETTING}` to the name of the quorum's listener")
    elif "controller" in broker.roles and absent:
        fix = f"add {absent[0]}://:9093 to `listeners`; names stand in upper case there"
        yield _error(broker, f"`{_SETTING}` has {', '.join(absent)}, which `listeners` does not bind", fix)
    elif "controller" not in broker.roles and present:
        fix = f"take {', '.join(present)} out of `listeners`: a mere broker dials controllers, and is none"
        yield _error(broker, f"a node without the controller role binds {', '.join(present)}", fix)
    elif not broker.serves_clients and others:
        fix = f"take {', '.join(others)} out of `listeners`, or add the role `broker`"
        yield _error(broker, f"a mere controller binds {', '.join(others)}", fix)
    if told and broker.serves_clients:
        message = f"{', '.join(told)} is advertised: Kafka 3.1 to 3.8 refuses that, later ones tell controllers only"
        yield Finding(CODE, Severity.INFO, broker.name, message)


def _error(broker: BrokerListeners, message: str, fix: str) -> Finding:
    return Finding(CODE, Severity.ERROR, broker.name, message, because=("BN811",), remedy=Remedy(broker=(fix,)))


CHECK = Check(
    CODE,
    "The controllers' listener is wrong",
    "The quorum's listener is missing or in the wrong place, so the node does not start: {subjects}.",
    _find,
    (Need.FILES,),
)
