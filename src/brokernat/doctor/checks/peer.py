"""Checks of the peer that answers at a Kafka endpoint.

A finding about the peer needs bytes of another protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brokernat.doctor.broker_files.listeners import node_listeners
from brokernat.doctor.checks.advice import stale_record
from brokernat.doctor.checks.places import (
    ProbedEndpoint,
    bootstrap_servers,
    dialled_nodes,
    is_of_own_versions,
    listener_of,
    nodes_of,
    probed_endpoints,
)
from brokernat.doctor.checks.registry import check, error, finding
from brokernat.doctor.checks.remedies import mended_here, record_remedy
from brokernat.doctor.evidence import BrokerPath, EndpointProbe, Evidence, Stage
from brokernat.doctor.finding import CheckFinding, Failure, Remedy, Severity
from brokernat.doctor.host_kinds import address
from brokernat.text import listed


@check("BN104")
def not_kafka(evidence: Evidence) -> Iterator[CheckFinding]:
    """The peer is not Kafka.

    Cause: What answers for {subjects} is not a Kafka broker{reason}.
    What: the port accepts connections and answers with bytes of another protocol, or with bytes that Kafka never sends.
    Why: the port is wrong, a proxy answers with its own page, or a forward leads to another server.
    Remedy: use the port of a Kafka listener for a bootstrap server; correct the forward for an advertised endpoint.
    """
    for probed in probed_endpoints(evidence):
        versions, metadata = probed.probe.versions, probed.probe.metadata
        protocol = probed.probe.protocol
        is_named = protocol not in ("", "TLS")
        if is_named:
            spelled = protocol[:1] in "AEFHILMNORSX" and protocol.partition(" ")[0].isupper()
            said = f"{'an' if spelled else 'a'} {protocol} server answers"
        elif versions is not None and versions.outcome in ("unreadable", "unsupported"):
            text = _legible(versions.first_bytes)
            said = f"the answer is not Kafka's{f' (`{text}`)' if text else ''}"
        elif metadata is not None and metadata.outcome in ("unreadable", "unsupported"):
            said = "its answer to the Metadata request cannot be read"
        else:
            continue
        first = probed.probe.first_bytes
        seen = [f"first bytes: {_legible(first)}"] if first else []
        remedy, severity = mended_here(probed), probed.severity
        if probed.path is None:
            forward = "if a gateway listens here: check where its forward leads"
            if protocol == "HTTP":
                forward += ", and let it pass TCP through (HAProxy `mode tcp`, nginx `stream`)"
            client: tuple[str, ...] = ("use the port of a Kafka listener",)
            # Servers of SOCKS and ZooKeeper close the connection at a Kafka request, so clients try the next server.
            if is_named and protocol not in ("SOCKS", "ZooKeeper") and severity is Severity.WARNING:
                severity, client = Severity.ERROR, remedy.client
                seen.append(
                    "Java clients read its first bytes as a size of a gigabyte and may end with OutOfMemoryError"
                )
            if protocol == "SOCKS":
                opens = "`brokernat tunnel --ssh user@HOST -b HOST:PORT -- COMMAND` opens a forward for each broker"
                client = (f"Kafka clients cannot use a SOCKS proxy (`ssh -D`): {opens} instead",)
            remedy = Remedy(client, (forward,))
        elif is_named:
            remedy = _remedy_of_node(probed, probed.path, remedy)
        yield finding(severity, probed, said, seen, remedy=remedy)


def _remedy_of_node(probed: ProbedEndpoint, path: BrokerPath, remedy: Remedy) -> Remedy:
    """The remedy for a node at whose endpoint a server of another protocol answers; `remedy` is that of any fault."""
    if record := stale_record(probed.evidence, path):
        return replace(remedy, client=(record, *remedy.client))
    if probed.chosen_by_name and probed.probe.protocol == "HTTPS":
        passed = "let the gateway pass TLS through to the broker (`ssl-passthrough`, HAProxy `mode tcp`)"
        return replace(remedy, broker=(*remedy.broker, passed))
    if one := _one_device(probed):
        return Remedy((one,)).and_also([remedy])
    own = f"if {probed.host} is not {probed.node}'s address any more, correct its `advertised.listeners`"
    moved = Remedy(broker=(own,) if address(probed.host) is not None and not path.rule else ())
    return record_remedy(probed).and_also([moved, remedy])


def _one_device(probed: ProbedEndpoint) -> str | None:
    """What to change if several hosts answer with one protocol that is not Kafka's: probably one device does."""
    alike = [
        each
        for each in dialled_nodes(probed.evidence)
        if each.path.rule is None and each.probe.protocol == probed.probe.protocol
    ]
    # So many addresses with the same foreign protocol show one device in front of them.
    if len({each.probe.addresses for each in alike}) < 2 or probed.is_behind_gateway:
        return None
    ends = listed([each.probe.endpoint for each in alike])
    return f"a proxy or a firewall on the path may answer in place of these hosts: have it let {ends} through"


@check("BN105", explains=("BN103",))
def controller_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The endpoint is a controller's listener.

    Cause: {subjects} is a controller's listener, where clients cannot read metadata.
    What: the peer is a KRaft controller's listener: it accepts broker registrations and serves no metadata.
    Why: the port belongs to a listener of `controller.listener.names`, often 9093. Clients get UNSUPPORTED_VERSION or a
    closed connection, and a Java client ends with it, even if other bootstrap servers answer; admin tools report
    MISMATCHED_ENDPOINT_TYPE (KIP-919).
    Remedy: use the port of a broker's listener.
    """
    for probed in probed_endpoints(evidence):
        if probed.probe.speaks == "controller":
            message = "a KRaft controller answers, which serves brokers but no clients"
            seen = ("its ApiVersions response has BrokerRegistration and no Metadata",)
            other_port = Remedy(("use the port of a listener that is not in `controller.listener.names`",))
            remedy = other_port if probed.path is None else mended_here(probed)
            yield error(probed, message, seen, remedy=remedy, explains=[probed.failure, *_without_a_controller(probed)])


def _without_a_controller(probed: ProbedEndpoint) -> list[Failure]:
    """The failures of bootstrap servers at the same port that refuse: brokers whose process has no controller."""
    return [
        each.failure
        for each in bootstrap_servers(probed.evidence)
        if probed.path is None and each.failure is not None and each.probe.port == probed.probe.port
        if {one.outcome for one in each.probe.attempts} == {"refused"}
    ]


@check("BN315", explains=("BN401", "BN404", "BN407"))
def unlike_its_neighbours(evidence: Evidence) -> Iterator[CheckFinding]:
    """One endpoint differs from the others.

    Cause: One endpoint differs from the others: {messages}.
    What: with the same configuration this client gets further at other nodes of the cluster than at this one.
    Why: a proxy is in front of this node only, its forward leads to a listener with another protocol or login, or this
    broker's listener is configured differently, for example with other users.
    Remedy: correct the forward, the proxy, the listener or the listener's users at this node. A change to the client
    would break the other nodes.
    """
    for probed in probed_endpoints(evidence):
        unlike = None if is_of_own_versions(evidence, probed.probe) else _unlike(probed.probe)
        if probed.path is None or probed.failure is None or unlike is None:
            continue
        stage, what = unlike
        if others := probed.others_past(stage):
            message = f"{what} at {probed.subject}, unlike at {nodes_of(others)}"
            seen = filter(None, (f"this client gets further at {nodes_of(others)}", probed.failure.detail))
            if what == _REJECTED:
                remedy = _other_users(probed)
            elif what in (_NO_CERTIFICATE, _OWN_CERTIFICATE):
                remedy = _other_certificates(probed, what)
            elif what == _NO_TLS:
                remedy = _without_tls(probed, others)
            else:
                remedy = mended_here(probed)
            if probed.probe.sasl is not None and probed.probe.sasl.outcome == "mechanism-not-offered":
                enabled = f"if it is that listener, add {evidence.mechanism} to its `sasl.enabled.mechanisms`"
                remedy = replace(remedy, broker=(*remedy.broker, enabled))
            elif what == _TLS:
                same = f"give this listener of {probed.node} the protocol that it has on {nodes_of(others)}"
                remedy = replace(remedy, broker=(*remedy.broker, f"if no proxy ends TLS there, {same}"))
            yield error(probed, message, tuple(seen), remedy=remedy)


def _other_users(probed: ProbedEndpoint) -> Remedy:
    """The remedy for a node that rejects the login that the other nodes accept: it speaks the listener's protocol and
    mechanism, so it may be the right listener with other users.
    """
    end, mechanism = probed.probe.endpoint, (probed.evidence.mechanism or "").lower()
    setting = _listener_setting(probed.evidence, f"{mechanism}.sasl.jaas.config")
    users = f"compare the users of this listener on {probed.node} with those of the other nodes: {setting}"
    if mechanism.startswith("scram"):
        stored = "SCRAM users are stored in the cluster, so all its nodes have the same ones"
        users = f"{stored}: check that {end} belongs to this cluster, and that {probed.node} is up to date (its log)"
    elif mechanism != "plain":
        users = f"compare the login settings of this listener on {probed.node} with those of the other nodes: {setting}"
    if not probed.is_behind_gateway:
        return Remedy(broker=(users,))
    rule = probed.path.rule if probed.path is not None else None
    mend = f"the rule `{rule}` or the forward" if rule else "the forward"
    return Remedy(broker=(users, f"if {end} does not lead to {probed.node}: correct {mend}"))


def _other_certificates(probed: ProbedEndpoint, what: str) -> Remedy:
    """The remedy for a node that alone requires a certificate of the client, or rejects the client's."""
    key = "ssl.client.auth" if what == _NO_CERTIFICATE else "ssl.truststore.location"
    setting = _listener_setting(probed.evidence, key)
    compare = Remedy(broker=(f"compare {setting} of {probed.node} with that of the other nodes",))
    return compare.and_also([mended_here(probed)]) if probed.is_behind_gateway else compare


def _without_tls(probed: ProbedEndpoint, others: Sequence[ProbedEndpoint]) -> Remedy:
    """The remedy for a node that alone speaks no TLS: a gateway that ends it for others may lack it at this port."""
    remedy, end, tls = mended_here(probed), probed.probe.endpoint, probed.probe.tls
    if not probed.is_behind_gateway or probed.chosen_by_name or probed.proven_elsewhere:
        return remedy
    kafka = ", where Kafka answers without it" if tls is not None and tls.plain else ""
    plain, rule = _plain_listener(probed.evidence), probed.path.rule if probed.path is not None else None
    # Otherwise the forward may as well lead to another listener.
    if not plain and not (kafka and rule):
        return remedy
    ends = f"if a gateway ends TLS for {nodes_of(others)}"
    if plain:
        ends = f"the brokers' listener {plain} has no TLS, so a gateway ends it for {nodes_of(others)}"
    mend = f"; if that is not its port for {probed.node}, correct the rule `{rule}`" if rule else ""
    return Remedy(broker=(f"{ends}: switch TLS on at its port {end}, too{kafka}{mend}", *remedy.broker))


def _plain_listener(evidence: Evidence) -> str | None:
    """The listener behind the bootstrap servers if it has no TLS by the settings of their nodes."""
    servers, name = _behind_bootstraps(evidence)
    protocols = {node_listeners(probe).protocols.get(name.upper(), "") for probe in servers} if name else set()
    return name if protocols and protocols <= {"PLAINTEXT", "SASL_PLAINTEXT"} else None


def _behind_bootstraps(evidence: Evidence) -> tuple[list[EndpointProbe], str | None]:
    """The bootstrap servers that answer, and the name of their listener."""
    servers = [probe for probe in evidence.bootstraps if probe.answers]
    return servers, listener_of(evidence, servers)


def _listener_setting(evidence: Evidence, key: str) -> str:
    """A broker's setting for the listener of the bootstrap servers."""
    _, name = _behind_bootstraps(evidence)
    return f"`listener.name.{name.lower() if name else 'LISTENER'}.{key}`"


def _unlike(probe: EndpointProbe) -> tuple[Stage, str] | None:
    """The failing stage and the peer's protocol, if the client's settings could be the reason."""
    tls, sasl = probe.tls, probe.sasl
    if tls is not None and not tls.ok:
        if tls.outcome == "not-tls":
            return None if tls.protocol else ("tls", _NO_TLS)
        if tls.outcome == "client-certificate":
            return "tls", _OWN_CERTIFICATE if tls.showed else _NO_CERTIFICATE
        return ("tls", "the TLS handshake fails") if tls.outcome == "failed" else None
    if tls is None and probe.versions is not None and probe.versions.protocol == "TLS":
        return "versions", _TLS
    if sasl is not None and sasl.outcome == "mechanism-not-offered":
        offered = ", ".join(sasl.offered)
        return "sasl", f"the login is by {offered}" if offered else "no login is supported"
    if sasl is not None and sasl.outcome in ("rejected", "closed", "reset"):
        return "sasl", _REJECTED
    if probe.metadata is not None and probe.may_require_login:
        return "metadata", "Kafka closes the connection without a login"
    return None


def _legible(first_bytes: str) -> str:
    """Bytes as text; in hexadecimal if they are not printable."""
    try:
        raw = bytes.fromhex(first_bytes)
    except ValueError:
        return first_bytes
    return "".join(chr(each) if 32 <= each < 127 else f"\\x{each:02x}" for each in raw)


_TLS, _NO_TLS = "TLS is spoken", "no TLS is spoken"
_REJECTED = "the login is rejected"
_NO_CERTIFICATE = "a client certificate is required"
_OWN_CERTIFICATE = "the client's certificate is rejected"
