"""Checks of brokers' files in KRaft mode: the controllers' listener, and where nodes look for it."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.broker_files.listeners import BrokerListeners, all_listeners
from brokernat.doctor.checks.registry import Need, check, error, info
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence

_CONTROLLERS, _VOTERS = "controller.listener.names", "controller.quorum.voters"


@check("BN823", Need.FILES, explains=("BN814", "BN816"))
def controller_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The controllers' listener is wrong.

    Cause: The quorum's listener is missing or in the wrong place, so the node does not start: {subjects}.
    What: the controllers' listener is missing, is bound on the wrong node, or is advertised to brokers and clients.
    Why: in KRaft mode `controller.listener.names` lists the listeners of the quorum. Nodes with the controller role
    bind them, and other brokers only dial them; a broker that breaks this rule does not start. Kafka compares these
    names as written, not in upper case.
    Remedy: follow the hint of the finding.
    """
    for broker in all_listeners(evidence):
        if broker.is_kraft:
            yield from _kraft(broker)
        elif broker.controllers:
            message = f"`{_CONTROLLERS}` without `process.roles`: a broker in ZooKeeper mode rejects it"
            fix = f"set `process.roles`, or remove `{_CONTROLLERS}` (only a migration to KRaft needs it)"
            yield error(broker.name, message, broker=fix, confidence=Confidence.LIKELY)


def _kraft(broker: BrokerListeners) -> Iterator[CheckFinding]:
    bound = {each.name for each in broker.listeners}
    absent = [name for name in broker.controllers if name not in bound]
    present = [name for name in broker.controllers if name in bound]
    others = [each.name for each in broker.of_clients()]
    advertised = [str(each) for each in broker.advertised_setting or () if each.name in broker.controllers]
    if not broker.controllers:
        fix = f"set `{_CONTROLLERS}` to the name of the quorum's listener"
        yield error(broker.name, f"`{_CONTROLLERS}` is not set", broker=fix)
    elif "controller" in broker.roles and absent:
        fix = f"add {absent[0]}://:9093 to `listeners`; write the name in upper case there"
        yield error(
            broker.name, f"`{_CONTROLLERS}` has {', '.join(absent)}, which `listeners` does not bind", broker=fix
        )
    elif "controller" not in broker.roles and present:
        fix = f"remove {', '.join(present)} from `listeners`: only nodes with the controller role bind it"
        yield error(broker.name, f"a node without the controller role binds {', '.join(present)}", broker=fix)
    elif not broker.serves_clients and others:
        fix = f"remove {', '.join(others)} from `listeners`, or add the role `broker`"
        yield error(broker.name, f"a node without the broker role binds {', '.join(others)}", broker=fix)
    if advertised and broker.serves_clients:
        message = "is advertised: Kafka 3.1 to 3.8 rejects that, later ones use it for controllers only"
        yield info(broker.name, f"{', '.join(advertised)} {message}")


@check("BN836", Need.FILES)
def quorum_port(evidence: Evidence) -> Iterator[CheckFinding]:
    """The quorum's controllers are listed with another port.

    Cause: Nodes do not find the controllers, whose ports differ from those in `controller.quorum.voters`: {subjects}.
    What: `controller.quorum.voters` has a port at which the controllers' listener of that node is not bound.
    Why: each node dials the controllers at the addresses in this setting. A broker starts only when it has found the
    active controller; until then it waits, and logs that the connection could not be established.
    Remedy: write the port of the listener in `controller.listener.names`.
    """
    bound = {
        broker.node_id: [each.port for each in broker.listeners if each.name in broker.controllers]
        for broker in all_listeners(evidence)
        if "controller" in broker.roles
    }
    for broker in all_listeners(evidence):
        wrong = {node: port for node, port in broker.voters.items() if bound.get(node) and port not in bound[node]}
        if wrong:
            named = ", ".join(f"port {port} for node {node}" for node, port in wrong.items())
            right = ", ".join(f"{bound[node][0]} for node {node}" for node in wrong)
            message = f"`{_VOTERS}` has {named}, where the controllers' listener is not bound"
            yield error(broker.name, message, broker=f"in `{_VOTERS}` write port {right}")
