"""What: a running broker says something else about its listeners than its file.
Why: the file was changed after the broker's start, another file is in force, a variable or a dynamic setting
(`kafka-configs.sh`) goes above it, or it is the file of another cluster.
Remedy: find out which one is meant; a broker reads its file at its start only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brokernat.doctor.broker_files.listeners import BrokerListeners, serving
from brokernat.doctor.evidence import Evidence, Look
from brokernat.doctor.finding import Check, Finding, Need, Remedy, Severity

CODE = "BN828"


def _find(evidence: Evidence) -> Iterator[Finding]:
    looks = [*evidence.bootstraps, *(path.look for path in evidence.paths if path.look is not None)]
    seen = {each.node_id for look in looks for each in look.brokers or ()}
    brokers = serving(evidence)
    for broker in brokers:
        if broker.node_id is None:
            continue
        differences = tuple(dict.fromkeys(_differences(broker, looks, seen)))
        if differences:
            remedy = Remedy(broker=("a broker reads its file at its start: restart it, or correct the file",))
            message = "the file and the running cluster differ"
            yield Finding(CODE, Severity.WARNING, broker.name, message, differences, remedy=remedy)
    without = sorted(seen - {broker.node_id for broker in brokers})
    if without:
        message = f"no file was given for {', '.join(f'node {node}' for node in without)}"
        yield Finding(CODE, Severity.INFO, f"cluster {evidence.cluster}", message)


def _differences(broker: BrokerListeners, looks: list[Look], seen: set[int]) -> Iterator[str]:
    if broker.node_id not in seen:
        yield f"the cluster does not tell of node {broker.node_id}"
    told = {each.endpoint.lower() for each in broker.advertised if each.host}
    known = all(each.host for each in broker.advertised)
    for look in looks:
        for each in look.brokers or ():
            if each.node_id == broker.node_id and known and each.endpoint.lower() not in told:
                yield f"who asks {look.endpoint} is told {each.endpoint}, which the file does not advertise"
        if look.identity is not None and look.identity.node_id == broker.node_id:
            yield from _settings(broker.settings, dict(look.settings))


def _settings(file: Mapping[str, str], running: Mapping[str, str]) -> Iterator[str]:
    """Those that both have; a broker tells its defaults too."""
    for name, value in file.items():
        if running.get(name) and _items(running[name]) != _items(value):
            yield f"{name}: the file has {value}, the broker has {running[name]}"


def _items(value: str) -> set[str]:
    return {item.strip().lower() for item in value.split(",")}


CHECK = Check(
    CODE,
    "A broker's file and the running broker differ",
    "Running brokers say something else than their files: {subjects}.",
    _find,
    (Need.FILES, Need.NETWORK, Need.METADATA),
)
