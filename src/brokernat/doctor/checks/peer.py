"""Checks of the peer at a Kafka endpoint, and of requests and answers on the path to it.

A finding about the peer needs bytes of another protocol. A silent, closed or cut connection may be a hanging broker or
a fault on the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brokernat.doctor.checks.queries import ProbedEndpoint, dialled_nodes, listener_of, nodes_of, probed_endpoints
from brokernat.doctor.checks.registry import check, error, finding, warning
from brokernat.doctor.evidence import EndpointProbe, Evidence, Stage, Tries
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.doctor.host_kinds import address

_REQUESTS: dict[Stage, str] = {
    "tls": "the TLS handshake",
    "versions": "the first request (ApiVersions)",
    "sasl": "the login",
    "metadata": "the Metadata request",
}
_SLOW, _NOTICED = 2.0, 1.0
# This many tries with this share of failures are not chance.
_MANY, _MOST_OF = 10, 0.9
# Seconds in which a slow broker is told from one that hangs; bytes of certificates that do not fit into one packet.
_ENOUGH, _ONE_PACKET = 60, 1000


@check("BN104")
def not_kafka(evidence: Evidence) -> Iterator[CheckFinding]:
    """The peer is not Kafka.

    Cause: {subjects} is not a Kafka broker{reason}.
    What: the port accepts connections and answers with bytes of another protocol, or with bytes that Kafka never sends.
    Why: the port is wrong, a proxy answers with its own page, or a forward leads to another server.
    Remedy: use the port of a Kafka listener for a bootstrap server; correct the forward for an advertised endpoint.
    """
    for probed in probed_endpoints(evidence):
        versions, metadata = probed.probe.versions, probed.probe.metadata
        protocol = probed.probe.protocol
        if protocol not in ("", "TLS"):
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
        seen: tuple[str, ...] = (f"first bytes: {_legible(first)}",) if first else ()
        remedy, severity = probed.mended_here(), probed.severity
        if probed.path is None:
            forward = "if a gateway listens here: check where its forward leads"
            if protocol == "HTTP":
                forward += ", and let it pass TCP through (HAProxy `mode tcp`, nginx `stream`)"
            remedy = Remedy(("use the port of a Kafka listener",), (forward,))
            if protocol not in ("", "TLS") and severity is Severity.WARNING:
                severity = Severity.ERROR
                seen += ("Java clients read its first bytes as a size of a gigabyte and may end with OutOfMemoryError",)
                remedy = Remedy(probed.mended_here().client, (forward,))
        yield finding(severity, probed, said, seen, remedy=remedy)


@check("BN105")
def controller_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """The endpoint is a controller's listener.

    Cause: {subjects} is a controller's listener, where clients cannot read metadata.
    What: the peer is a KRaft controller's listener: it accepts broker registrations and serves no metadata.
    Why: the port belongs to a listener of `controller.listener.names`, often 9093. Clients get UNSUPPORTED_VERSION or a
    closed connection; admin tools report MISMATCHED_ENDPOINT_TYPE (KIP-919).
    Remedy: use the port of a broker's listener.
    """
    for probed in probed_endpoints(evidence):
        if probed.probe.speaks == "controller":
            remedy = Remedy(("use the port of a listener that is not in `controller.listener.names`",))
            message = "a KRaft controller answers, which serves brokers but no clients"
            seen = ("its ApiVersions response has BrokerRegistration and no Metadata",)
            remedy = remedy if probed.path is None else probed.mended_here()
            yield finding(probed.severity, probed, message, seen, remedy=remedy)


@check("BN309")
def hung(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker accepts connections and does not answer.

    Cause: {subjects} accepts connections and does not answer{reason}.
    What: TCP connections are accepted, and requests get no answer in any try.
    Why: the broker's process hangs (a long garbage collection, a full disk, a stopped container), a firewall drops the
    data after the TCP handshake, or a gateway accepts connections for a broker that does not answer.
    Remedy: check the broker's process and log, then gateways and firewalls on the path.
    """
    silent = [(probed, _ended(probed.probe, "silent", "stalled")) for probed in probed_endpoints(evidence)]
    certain = {stage for probed, stage in silent if stage is not None and probed.doubt is None}
    for probed, stage in silent:
        # A peer that was silent when the time ran out may only be slow, unless other endpoints are certainly silent.
        if stage is None or (probed.doubt is not None and stage not in certain):
            continue
        received = getattr(getattr(probed.probe, stage), "received", 0)
        tried = probed.probe.tried(stage)
        within = f" within {max(1, round(tried.largest))} s" if tried is not None else ""
        message = (
            f"its answer ends after {received} bytes" if received else f"{_REQUESTS[stage]} gets no answer{within}"
        )
        who = _the_node(probed, silent)
        several = sum(other is not None for _, other in silent) > 1
        end = "each of these endpoints" if several else probed.probe.endpoint
        fix: tuple[str, ...] = (
            f"check whether {who} hangs: its log, a thread dump (`jcmd PID Thread.print`), its disk",
            f"check whether a firewall or a gateway in front of {end} drops data after the handshake",
            "check whether the listener has reached `max.connections`, so that new connections wait",
        )
        if stage == "tls":
            # The certificates are the first large answer.
            fix += ("check the MTU of the path if only large packets are lost: `ping -M do -s 1472 HOST`",)
        seen = _tries(probed, stage)
        if stage in ("tls", "versions") and probed.probe.tls is not None and evidence.own_chain > _ONE_PACKET:
            # In TLS 1.3 the client's handshake ends before the broker has its certificate.
            seen.append(f"the client's certificates have {evidence.own_chain} bytes: its first large packets")
            lost = "if the listener requires client certificates, this client's may be lost on the path: check its MTU"
            fix = (f"{lost} (`ping -M do -s 1472 HOST`)", *fix)
        again = f"if it may only be slow, run the doctor again with more time: `--timeout {_ENOUGH}`"
        slow = () if (evidence.timeout or 0) >= _ENOUGH else again
        yield finding(probed.severity, probed, message, seen, client=slow, broker=fix, rules=probed.proven_elsewhere)


@check("BN310")
def closed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Connections are closed at the first request.

    Cause: Something on the path closes connections to {subjects}{reason}.
    What: TCP connections are accepted and then closed or reset before the first byte of an answer, in all tries.
    Why: a gateway or load balancer accepts connections for a broker that is down or unreachable from it; a middlebox
    blocks Kafka; or the listener expects TLS.
    Remedy: check that the broker behind the gateway runs and that the gateway reaches it.
    """
    ended = [(probed, _ended(probed.probe, "closed", "reset")) for probed in probed_endpoints(evidence)]
    for probed, stage in ended:
        if stage is None or stage == "sasl" or (stage == "metadata" and probed.probe.sasl is None):
            # Kafka closes the connection after a failed login: BN404.
            continue
        fix: tuple[str, ...] = (
            f"if a gateway or a load balancer listens there: check that {_the_node(probed, ended)} runs, that the "
            "gateway reaches it, that it allows enough connections, and that it sends no PROXY protocol header, which "
            "Kafka does not support",
            "if the broker itself listens there: its log has the reason, for example `max.connections.per.ip`",
        )
        if probed.others_past(stage):
            fix += ("if a firewall inspects the traffic: compare its rules for this endpoint and for the others",)
        own = ["check that this is the port of a Kafka listener"] if probed.path is None else []
        if stage == "tls" and address(probed.probe.name) is not None:
            by_name = "if a gateway selects the broker by the TLS server name (SNI): use that name as bootstrap server"
            own.append(f"{by_name}; clients never send an address as SNI")
        message = f"the connection is {getattr(probed.probe, stage).outcome} at {_REQUESTS[stage]}"
        seen, rules = _tries(probed, stage), probed.proven_elsewhere
        yield finding(probed.severity, probed, message, seen, client=own, broker=fix, rules=rules)


@check("BN311")
def cut(evidence: Evidence) -> Iterator[CheckFinding]:
    """An answer of Kafka is cut.

    Cause: Something on the path cuts the answers of {subjects}{reason}.
    What: an answer begins as a Kafka answer, and the connection ends before it is complete.
    Why: a middlebox ends connections after some bytes, a proxy has a limit, or the broker was killed.
    Remedy: check the proxies, inspecting firewalls and VPNs between this machine and the broker.
    """
    for probed in probed_endpoints(evidence):
        stage = _ended(probed.probe, "cut")
        if stage is not None:
            received = getattr(getattr(probed.probe, stage), "received", 0)
            message = f"the connection ends after {received} bytes of the answer" if received else "the answer is cut"
            end = probed.probe.endpoint
            fix = f"find the proxy, firewall or VPN in front of {end}, and let it pass the connection unchanged"
            seen, rules = _tries(probed, stage), probed.proven_elsewhere
            yield finding(probed.severity, probed, message, seen, broker=fix, rules=rules)


@check("BN312", explains=("BN309",))
def large_messages(evidence: Evidence) -> Iterator[CheckFinding]:
    """Large messages do not get through.

    Cause: Small messages get through and large ones do not at {subjects}{reason}.
    What: requests or answers of more than 1,500 bytes or of more than 8 KiB are lost or cut, and small ones get
    through. Clients connect, and then time out when they produce or fetch; with TLS, at the broker's certificates,
    which are its first large message.
    Why: the path does not carry the packet size (MTU): a tunnel, VPN or overlay network whose ICMP messages
    `fragmentation needed` are dropped; or a middlebox limits the size.
    Remedy: lower the MTU of the interface, or clamp the MSS at the gateway of the tunnel.
    """
    several = sum(each.probe.tls is not None and each.probe.tls.alert for each in probed_endpoints(evidence)) > 1
    for probed in probed_endpoints(evidence):
        mtu = (
            f"compare the MTU of the path: `ping -M do -s 1472 {'HOST' if several else probed.host}`; lower the "
            "interface's MTU if a tunnel or a VPN is on it"
        )
        clamp = "clamp the MSS at the gateway of the tunnel or VPN, or let ICMP `fragmentation needed` pass"
        tls = probed.probe.tls
        if tls is not None and tls.outcome == "silent" and tls.alert:
            message = "a short TLS alert arrives, and the handshake with the broker's certificates gets no answer"
            seen = _tries(probed, "tls")
            remedy = Remedy((mtu,), (clamp,), probed.proven_elsewhere)
            yield finding(probed.severity, probed, message, seen, remedy=remedy, confidence=Confidence.LIKELY)
        if probed.probe.size is None or probed.failure is None or probed.failure.stage != "size":
            continue
        failed = probed.probe.size.failed
        smallest = min(failed, key=lambda each: each.size)
        seen = [
            f"{each.direction} of {each.size} bytes: {each.outcome}, {each.failed} of {each.made} tries failed"
            + (f", {each.received} bytes received" if each.received else "")
            for each in failed
        ]
        others = [each for each in probed.others_past("size") if each.probe.size and each.probe.size.transfers]
        if others:
            seen.append(f"large messages get through at {nodes_of(others)}")
        what = " and ".join(f"{direction}s" for direction in dict.fromkeys(each.direction for each in failed))
        yield error(
            probed,
            f"{what} from {smallest.size} bytes on are {'cut' if smallest.outcome in _CUT else 'lost'}",
            seen,
            client=mtu,
            broker=clamp,
        )


@check("BN313")
def flaky(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some connections fail.

    Cause: Some connections to {subjects} fail{reason}.
    What: some tries of a stage failed and a later one worked. Clients retry and get through, but more slowly. It is an
    error if nine of ten tries fail, or if an endpoint accepts no connection while those to other endpoints are open:
    a client keeps one to each broker.
    Why: packets are lost, a load balancer has a dead member, the number of connections is limited
    (`max.connections.per.ip`), or a firewall drops connection state.
    Remedy: none is needed for a client that retries; look for the loss if it is frequent.
    """
    for probed in probed_endpoints(evidence):
        mixed = _now_and_then(probed.probe)
        seen = [
            f"{each.stage}: {each.failed} of {each.made} tries failed ({', '.join(dict.fromkeys(each.faults))})"
            for each in mixed
        ]
        seen += [
            f"{each.address}: {each.failed} of {each.made} connections failed"
            for each in probed.probe.attempts
            if 0 < each.failed < each.made
        ]
        if not (probed.failure is None or probed.failure.doubt):
            continue
        if probed.probe.endpoint in evidence.crowded:
            message = "it accepts no connection while those to other endpoints are open, as a client has them"
            limit = "find what limits the connections of this machine (a firewall, a NAT, a proxy)"
            many = f"{limit}: a client needs one to each broker, and another one"
            yield error(probed, message, seen, broker=many, explains=False)
            continue
        if not seen:
            continue
        if any(each.made >= _MANY and each.failed >= _MOST_OF * each.made for each in mixed):
            message = f"hardly any try works ({seen[0]})"
            more = "check that the program there accepts more than one connection (`socat` needs `fork`)"
            fix = (f"{more}, and how many it allows", "check whether it restarts again and again")
            dialled = any(each.probe.endpoint == probed.probe.endpoint for each in dialled_nodes(evidence))
            severity = Severity.ERROR if dialled else probed.severity
            yield finding(severity, probed, message, seen, broker=fix, explains=False)
        else:
            message = "some tries failed, a later one worked"
            lost = "check whether the path loses packets or limits connections"
            if any("refused" in each.faults for each in mixed):
                lost = "check whether a firewall or a balancer there rejects some connections, or the broker restarted"
            elif any(each.stage != "connect" and not {"closed", "reset"}.isdisjoint(each.faults) for each in mixed):
                lost = "check whether a load balancer there has a dead member, or something limits connections"
            yield warning(probed, message, seen, broker=lost, explains=False)


def _now_and_then(probe: EndpointProbe) -> list[Tries]:
    """Stages that failed in some tries only; BN303 reports addresses that never accept a connection."""
    dead = sum(each.failed for each in probe.attempts if each.failed == each.made)
    counted = [
        replace(each, failed=each.failed - dead, made=each.made - dead) if each.stage == "connect" else each
        for each in probe.tries
    ]
    return [each for each in counted if 0 < each.failed < each.made]


@check("BN314")
def slow(evidence: Evidence) -> Iterator[CheckFinding]:
    """Answers are slow.

    Cause: {subjects} answers slowly.
    What: a connection or an answer took a second or more. Clients work, but may need larger timeouts.
    Why: the path is long, packets are lost and sent again (TCP repeats the first packet after a second), or the broker
    or gateway is overloaded.
    Remedy: set the client's `request.timeout.ms` and `socket.connection.setup.timeout.ms` above these times.
    """
    for probed in probed_endpoints(evidence):
        took = [(each.largest, each.median, each.stage) for each in probed.probe.tries if each.failed < each.made]
        longest = max(took, default=(0.0, 0.0, ""))
        if longest[0] < _NOTICED or (probed.failure is not None and not probed.failure.doubt):
            continue
        severity = Severity.WARNING if longest[1] >= _SLOW else Severity.INFO
        message, fix = f"slow: {longest[2]} takes {longest[0]:.1f} s", "set the clients' timeouts above this time"
        others = (each for each in took if each[2] != "resolve")
        if longest[2] == "resolve" and max(others, default=(0.0,))[0] < _NOTICED:
            message = f"slow: the name servers of this machine take {longest[0]:.1f} s for `{probed.host}`"
            fix = "find the slow name server of /etc/resolv.conf: each is queried in turn, for IPv4 and for IPv6"
        yield finding(severity, probed, message, client=fix, explains=False)


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
        unlike = _unlike(probed.probe)
        if probed.path is None or probed.failure is None or unlike is None:
            continue
        stage, what = unlike
        if others := probed.others_past(stage):
            message = f"{what} at {probed.subject}, unlike at {nodes_of(others)}"
            seen = filter(None, (f"this client gets further at {nodes_of(others)}", probed.failure.detail))
            remedy = probed.mended_here()
            if probed.probe.sasl is not None and probed.probe.sasl.outcome == "mechanism-not-offered":
                enabled = f"if it is that listener, add {evidence.mechanism} to its `sasl.enabled.mechanisms`"
                remedy = replace(remedy, broker=(*remedy.broker, enabled))
            if what == _REJECTED:
                remedy = _other_users(probed)
            if what in (_NO_CERTIFICATE, _OWN_CERTIFICATE):
                remedy = _other_certificates(probed, what)
            yield error(probed, message, tuple(seen), remedy=remedy)


def _other_users(probed: ProbedEndpoint) -> Remedy:
    """The remedy for a node that rejects the login that the other nodes accept: it speaks the listener's protocol and
    mechanism, so it may be the right listener with other users.
    """
    evidence, end = probed.evidence, probed.probe.endpoint
    name = listener_of(evidence, [probe for probe in evidence.bootstraps if probe.answers])
    mechanism = (evidence.mechanism or "").lower()
    setting = f"`listener.name.{name.lower() if name else 'LISTENER'}.{mechanism}.sasl.jaas.config`"
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
    evidence = probed.evidence
    name = listener_of(evidence, [probe for probe in evidence.bootstraps if probe.answers])
    key = "ssl.client.auth" if what == _NO_CERTIFICATE else "ssl.truststore.location"
    setting = f"`listener.name.{name.lower() if name else 'LISTENER'}.{key}`"
    compare = f"compare {setting} of {probed.node} with that of the other nodes"
    forward = probed.mended_here() if probed.is_behind_gateway else Remedy()
    return Remedy(forward.client, (compare, *forward.broker), forward.rules)


def _unlike(probe: EndpointProbe) -> tuple[Stage, str] | None:
    """The failing stage and the peer's protocol, if the client's settings could be the reason."""
    if probe.tls is not None and not probe.tls.ok:
        if probe.tls.outcome == "not-tls":
            return None if probe.tls.protocol else ("tls", "no TLS is spoken")
        if probe.tls.outcome == "client-certificate":
            return "tls", _OWN_CERTIFICATE if probe.tls.showed else _NO_CERTIFICATE
        return ("tls", "the TLS handshake fails") if probe.tls.outcome == "failed" else None
    if probe.versions is not None and probe.versions.protocol == "TLS":
        return "versions", "TLS is spoken"
    if probe.sasl is not None and probe.sasl.outcome == "mechanism-not-offered":
        offered = ", ".join(probe.sasl.offered)
        return "sasl", f"the login is by {offered}" if offered else "no login is supported"
    if probe.sasl is not None and probe.sasl.outcome in ("rejected", "closed", "reset"):
        return "sasl", _REJECTED
    if probe.sasl is None and probe.metadata is not None and probe.metadata.outcome in ("closed", "reset"):
        return "metadata", "Kafka closes the connection without a login"
    return None


def _ended(probe: EndpointProbe, *faults: str) -> Stage | None:
    """The stage that ends with one of these faults."""
    stage = probe.stopped
    return stage if stage in _REQUESTS and getattr(probe, stage).outcome in faults else None


def _tries(probed: ProbedEndpoint, stage: Stage) -> list[str]:
    """The number of tries, and the endpoints at which the same stage works."""
    tried = probed.probe.tried(stage)
    seen = [f"{_REQUESTS[stage]}: {tried.failed} of {tried.made} tries failed"] if tried is not None else []
    if others := probed.others_past(stage):
        seen.append(f"it works at {nodes_of(others)}")
    return seen


def _the_node(probed: ProbedEndpoint, alike: Sequence[tuple[ProbedEndpoint, Stage | None]]) -> str:
    """The node, or one name for all if several nodes fail alike: equal advice is printed once."""
    nodes = {each.node for each, stage in alike if stage is not None and each.path is not None}
    return _EACH if probed.path is not None and len(nodes) > 1 else probed.node


_EACH = "each of these nodes"


def _legible(first_bytes: str) -> str:
    """Bytes as text; in hexadecimal if they are not printable."""
    try:
        raw = bytes.fromhex(first_bytes)
    except ValueError:
        return first_bytes
    return "".join(chr(each) if 32 <= each < 127 else f"\\x{each:02x}" for each in raw)


_CUT = ("cut", "closed", "reset")
_REJECTED = "the login is rejected"
_NO_CERTIFICATE = "a client certificate is required"
_OWN_CERTIFICATE = "the client's certificate is rejected"
