"""Checks of brokers' files: settings that stop the broker at its start, or that it reads differently than intended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from brokernat.config.client_properties import PROTOCOLS
from brokernat.doctor.broker_files.listeners import (
    DEFAULT_LISTENERS,
    FORMER_SETTINGS,
    BrokerListeners,
    advertised_listeners,
    all_listeners,
    former_settings,
    is_lost_listener,
    serving,
    setting_like,
)
from brokernat.doctor.checks.registry import Need, check, error, finding, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Severity

_PROTOCOL_MAP = "listener.security.protocol.map"
_CONTROLLERS = "controller.listener.names"
_INTER_BROKER, _INTER_BROKER_PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"
_WITHOUT_FORMER = (3, 0)
_LISTENER = "`NAME://host:port`"
_FORMS = {
    _PROTOCOL_MAP: f"`NAME:PROTOCOL`, with a protocol of {', '.join(PROTOCOLS)}",
    "process.roles": "`broker`, `controller` or `broker,controller`",
    "controller.quorum.voters": "`ID@HOST:PORT`, separated by commas",
}
# The releases that refuse an extra comma in a list of names or listeners do not support ZooKeeper.
_COMMAS_IN_KRAFT = {
    "listeners": "Kafka 4.3 refuses to start, older releases ignore it",
    "advertised.listeners": "Kafka 4.3 refuses to start, older releases ignore it",
    _CONTROLLERS: "Kafka 4.3 refuses to start, older releases ignore it at the end",
}
_COMMAS = {**_COMMAS_IN_KRAFT, _PROTOCOL_MAP: "Kafka refuses to start", "process.roles": "Kafka refuses to start"}


@check("BN811", Need.FILES, explains=("BN814", "BN815", "BN819", "BN822", "BN823"))
def listener_unreadable(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker's file has an entry that Kafka cannot read.

    Cause: Entries about listeners cannot be read, or are lost: {subjects}.
    What: a broker's file has a listener entry that Kafka cannot read or that is lost, or has no listener at all.
    Why: a listener is `NAME://host:port` (brackets around IPv6), a mapping is `NAME:PROTOCOL`; commas separate them,
    and only a backslash at the end of a line continues it. The broker does not start, or lacks the listener.
    Remedy: write the entry in that form.
    """
    for broker in all_listeners(evidence):
        for setting, entry in broker.unreadable:
            fix = f"in `{setting}` write {_FORMS.get(setting, _LISTENER)}"
            if re.search(r"\s[#!]", entry):
                fix = f"write the comment on a line of its own: in `{setting}` it is part of the value"
            elif entry != entry.strip("\"'"):
                fix = f"remove the quotes from `{setting}`: they are part of the value"
            elif "${" in entry:
                fix = f"fill in the placeholder in `{setting}`: Kafka does not"
            yield error(broker.name, f"Kafka cannot read `{entry}` in `{setting}`", broker=fix)
        for setting, listeners in (("listeners", broker.listeners), ("advertised.listeners", broker.advertised)):
            for each in listeners:
                if "://" in each.name:
                    message = f"Kafka reads `{each}` in `{setting}` as one listener"
                    scheme = each.name.rpartition("://")[2].lower()
                    fix = f"remove `{scheme}://`" if scheme in ("http", "https") else "separate listeners by a comma"
                    yield error(broker.name, message, broker=fix)
        for name, value in broker.settings.items():
            if is_lost_listener(name, value):
                message = f"`{name}:{value}` is a setting of its own, and Kafka ignores it"
                fix = r"end the line before it with `\`, with no blank behind it"
                yield error(broker.name, message, broker=fix)
        for setting, releases in _COMMAS.items():
            value = broker.settings.get(setting, "")
            # Kafka drops empty entries at the end of the map (`String.split`).
            entries = (value.rstrip(",") if setting == _PROTOCOL_MAP else value).split(",")
            if value and not all(entry.strip() for entry in entries):
                message = f"`{setting}` has an extra comma: {releases}"
                ignored = setting in _COMMAS_IN_KRAFT and not broker.is_kraft
                severity = Severity.WARNING if ignored else Severity.ERROR
                fix = f"remove the extra comma from `{setting}`"
                yield finding(severity, broker.name, message, (value,), broker=fix)
        if not broker.listeners and not broker.unreadable:
            fix = f"in `listeners` write {_LISTENER}"
            yield error(broker.name, "`listeners` is set, but has no listener", broker=fix)


@check("BN812", Need.FILES)
def given_twice(evidence: Evidence) -> Iterator[CheckFinding]:
    """A setting or a listener is given twice.

    Cause: Two listeners have one name, so the broker does not start: {subjects}.
    What: a broker's file gives one setting or one listener name twice.
    Why: if a setting is given twice, Java uses the last value and logs nothing. If two listeners have one name, the
    broker refuses to start.
    Remedy: keep one of them.
    """
    for broker in all_listeners(evidence):
        for setting in broker.settings:
            values = [value for name, value in broker.file.settings if name == setting]
            if len(values) > 1:
                message = f"`{setting}` is given {len(values)} times, and the last one counts"
                yield warning(broker.name, message, tuple(values), broker=f"keep one line of `{setting}`")
        for setting, listeners in (
            ("listeners", broker.listeners),
            ("advertised.listeners", broker.advertised_setting or ()),
        ):
            for name in dict.fromkeys(each.name for each in listeners):
                found = tuple(str(each) for each in listeners if each.name == name)
                if len(found) > 1:
                    message = f"`{setting}` has {len(found)} listeners named {name}, which Kafka rejects"
                    yield error(broker.name, message, found, broker="give each listener its own name")


@check("BN834", Need.FILES, explains=("BN814", "BN817", "BN818", "BN819", "BN823", "BN824", "BN827", "BN836", "BN837"))
def setting_misspelled(evidence: Evidence) -> Iterator[CheckFinding]:
    """A setting's name is misspelled.

    Cause: Settings about listeners have names that Kafka does not know, so it ignores them: {subjects}.
    What: a broker's file has a setting whose name is nearly that of a setting about listeners, or a compose file has
    variables `KAFKA_CFG_...` for an image of Apache or Confluent.
    Why: Kafka ignores a setting that it does not know, and uses the default of the one that was meant. Only Bitnami's
    image reads variables with `CFG`.
    Remedy: correct the name.
    """
    for broker in all_listeners(evidence):
        ignored = {name: meant for name in broker.settings if (meant := setting_like(name)) and name != meant}
        of_bitnami = [meant for name, meant in ignored.items() if name.startswith("cfg.")]
        if of_bitnami:
            message = f"`KAFKA_CFG_` names {', '.join(of_bitnami)}: only Bitnami's image reads such variables"
            yield error(broker.name, message, broker="write `KAFKA_` for `KAFKA_CFG_` in the variables of this image")
        for name, meant in ignored.items():
            if meant not in of_bitnami:
                yield error(broker.name, f"`{name}` is ignored", broker=f"write `{meant}` for `{name}`")


@check("BN814", Need.FILES)
def no_protocol(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener has no security protocol.

    Cause: Listeners have no security protocol, so the broker does not start: {subjects}.
    What: a listener name has no security protocol.
    Why: a name that is not itself a protocol needs an entry in `listener.security.protocol.map`. Once the map is set,
    all names need one, PLAINTEXT too. The controllers' listener is PLAINTEXT by default only if no other protocol is in
    use. Without a protocol the broker does not start.
    Remedy: add an entry `NAME:PROTOCOL` to the map.
    """
    for broker in all_listeners(evidence):
        names = [each.name for each in (*broker.listeners, *(broker.advertised_setting or ()))]
        # A node without the controller role dials the controllers' listener and does not bind it.
        names += [name.upper() for name in broker.controllers if broker.is_kraft]
        misspelled = _misspelled(broker)
        pairs = {**misspelled, **{bound: advertised for advertised, bound in misspelled.items()}}
        missing = [
            name
            for name in dict.fromkeys(names)
            # A misspelled name has the protocol of the right one: BN815.
            if name not in broker.protocols and pairs.get(name) not in broker.protocols
        ]
        if missing:
            given = broker.settings.get(_PROTOCOL_MAP)
            seen = (f"{_PROTOCOL_MAP}={given}",) if given is not None else (f"{_PROTOCOL_MAP} is not set",)
            fix = f"add {', '.join(f'{name}:PROTOCOL' for name in missing)} to `{_PROTOCOL_MAP}`"
            yield error(broker.name, f"no security protocol is given for {', '.join(missing)}", seen, broker=fix)


@check("BN815", Need.FILES, explains=("BN822",))
def advertised_without_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """A listener is advertised but not bound.

    Cause: Listeners are advertised that are not bound, so the broker does not start: {subjects}.
    What: `advertised.listeners` has a name that is not in `listeners`.
    Why: each advertised endpoint belongs to the bound listener of the same name. Without that listener the broker does
    not start.
    Remedy: add a listener of that name, or correct the name.
    """
    for broker, each in advertised_listeners(evidence):
        if broker.bound_port(each.name) is None:
            message = f"{each} is advertised, but no listener {each.name} is bound"
            fix = f"add {each.name}://:{each.port} to `listeners`, or remove it from `advertised.listeners`"
            if typo := _misspelled(broker).get(each.name):
                fix = f"`listeners` has {typo}, which is not advertised: give both the same name"
            yield error(broker.name, message, (f"listeners: {', '.join(map(str, broker.listeners))}",), broker=fix)


def _misspelled(broker: BrokerListeners) -> dict[str, str]:
    """The advertised names that no listener has, each with the listener that is not advertised and probably meant."""
    bound = {each.name for each in broker.of_clients()} - {each.name for each in broker.advertised}
    advertised = {each.name for each in broker.advertised} - {each.name for each in broker.of_clients()}
    if len(bound) == len(advertised) == 1:
        return dict(zip(advertised, bound, strict=True))
    alike = {name: get_close_matches(name, bound, n=1, cutoff=0.75) for name in advertised}
    return {name: found[0] for name, found in alike.items() if found}


@check("BN817", Need.FILES)
def wildcard_advertised(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker advertises a wildcard address.

    Cause: Brokers advertise an address that nobody can dial: {subjects}.
    What: a broker advertises 0.0.0.0 or [::], because the file sets it or because `advertised.listeners` is missing.
    Why: a wildcard means "every address of this machine" for a bind, and is no address to dial. Kafka refuses to start
    with 0.0.0.0; it accepts [::], and clients then dial themselves.
    Remedy: advertise a name or an address that clients can dial; `listeners` can stay.
    """
    for broker, each in advertised_listeners(evidence):
        if each.where == "nowhere":
            default = "" if broker.advertised_setting else ", because `advertised.listeners` is not set"
            fix = f"advertise {each.name}://HOST:{each.port} with a host that clients can dial"
            yield error(broker.name, f"advertises {each}{default}", broker=fix)


@check("BN819", Need.FILES)
def inter_broker_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The inter-broker listener is not advertised.

    Cause: The inter-broker listener is not advertised or is set twice, so the broker does not start: {subjects}.
    What: the inter-broker listener is not advertised, or is set twice.
    Why: brokers find each other by their advertised endpoints. Kafka uses the name in `inter.broker.listener.name`, or
    the protocol in `security.inter.broker.protocol` as a name (default PLAINTEXT), never both. If this listener is not
    advertised, the broker does not start.
    Remedy: name a listener that is advertised.
    """
    for broker in serving(evidence):
        names = list(dict.fromkeys(each.name for each in broker.advertised))
        chosen = [setting for setting in (_INTER_BROKER, _INTER_BROKER_PROTOCOL) if setting in broker.settings]
        if len(chosen) == 2:
            message = f"`{_INTER_BROKER}` and `{_INTER_BROKER_PROTOCOL}` are both set, which Kafka rejects"
            yield error(broker.name, message, broker=f"keep `{_INTER_BROKER}`, remove `{_INTER_BROKER_PROTOCOL}`")
        elif broker.inter_broker not in names:
            because = f"`{chosen[0]}`" if chosen else f"`{_INTER_BROKER}` is not set, which means PLAINTEXT"
            message = f"the inter-broker listener {broker.inter_broker} is not advertised ({because})"
            fix = (f"set `{_INTER_BROKER}` to one of: {', '.join(names)}",) if names else ()
            yield error(broker.name, message, broker=fix)


@check("BN820", Need.FILES)
def same_node_id(evidence: Evidence) -> Iterator[CheckFinding]:
    """Two files have one node id.

    Cause: Files of different nodes have one id: {subjects}.
    What: two files have one node id.
    Why: a node id identifies one broker or controller. The second node that starts is rejected, or replaces the first
    one.
    Remedy: give each node its own id; controllers and brokers share one number range.
    """
    brokers = all_listeners(evidence)
    for node_id in dict.fromkeys(each.node_id for each in brokers if each.node_id is not None):
        having = [each for each in brokers if each.node_id == node_id]
        files = [
            each.file.name
            for each in having
            if any(each is not other and each.may_share_cluster(other) for other in having)
        ]
        if files:
            fix = "give each node its own `node.id` (before KRaft: `broker.id`)"
            yield error(f"node {node_id}", f"{len(files)} files have this id", tuple(files), broker=fix)


@check("BN829", Need.FILES)
def settings_of_the_past(evidence: Evidence) -> Iterator[CheckFinding]:
    """A file has settings that Kafka no longer reads.

    Cause: Files have settings that Kafka no longer reads: {subjects}.
    What: a broker's file has `host.name`, `port`, `advertised.host.name` or `advertised.port`.
    Why: Kafka 3.0 removed these settings, and no release in KRaft mode reads them. Without `listeners` the defaults
    apply and nothing is logged: the broker binds every address on 9092 and advertises the host name of its machine.
    Remedy: set `listeners` and `advertised.listeners`.
    """
    for broker in all_listeners(evidence):
        found = [name for name in FORMER_SETTINGS if name in broker.settings]
        if found:
            listeners, advertised = former_settings(broker.settings)
            bound = broker.settings.get("listeners") or listeners or DEFAULT_LISTENERS
            kept = broker.settings.get("advertised.listeners") or advertised
            lines = [f"listeners={bound}", *([f"advertised.listeners={kept}"] if kept else [])]
            if not broker.is_kraft and (broker.file.release or _WITHOUT_FORMER) < _WITHOUT_FORMER:
                continue
            since = "a broker in KRaft mode does not read it" if broker.is_kraft else "not read from Kafka 3.0 on"
            yield warning(broker.name, f"{', '.join(found)}: {since}", broker=tuple(lines))
