"""What answers where a Kafka broker is expected, and what becomes of requests and answers on the path.

A verdict about the peer needs bytes that another protocol explains. A peer that is silent, closes or is cut short is a
broker that hangs, or something on the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokernat.doctor.checks.queries import ProbedEndpoint, dialled_nodes, nodes_of, probed_endpoints
from brokernat.doctor.checks.registry import check, error, finding, warning
from brokernat.doctor.evidence import EndpointProbe, Evidence, Stage, Tries
from brokernat.doctor.finding import CheckFinding, Remedy, Severity
from brokernat.doctor.host_kinds import address

_REQUESTS: dict[Stage, str] = {
    "tls": "the TLS handshake",
    "versions": "the first request (ApiVersions)",
    "sasl": "the login",
    "metadata": "the request for the brokers (Metadata)",
}
_SLOW, _NOTICED = 2.0, 1.0
# So many tries, and such a part of them that fails, are no chance.
_MANY, _MOST_OF = 10, 0.9


@check("BN104")
def not_kafka(evidence: Evidence) -> Iterator[CheckFinding]:
    """Something else than Kafka answers.

    Cause: {subjects} is not a Kafka broker{reason}.
    What: the port takes connections, and the bytes that it answers are those of another protocol, or none that Kafka
    would send.
    Why: a wrong port, a proxy's own page, or a forward that leads elsewhere.
    Remedy: at a bootstrap server the port of a Kafka listener; at an advertised endpoint the forward to the broker.
    """
    for probed in probed_endpoints(evidence):
        versions, metadata = probed.probe.versions, probed.probe.metadata
        protocol = next((each.protocol for each in (probed.probe.tls, versions) if each and each.protocol), "TLS")
        if protocol != "TLS":
            spelled = protocol[:1] in "AEFHILMNORSX" and protocol.partition(" ")[0].isupper()
            said = f"{'an' if spelled else 'a'} {protocol} server answers"
        elif versions is not None and versions.outcome in ("unreadable", "unsupported"):
            text = _legible(versions.first_bytes)
            said = f"what answers is no Kafka{f' (`{text}`)' if text else ''}"
        elif metadata is not None and metadata.outcome in ("unreadable", "unsupported"):
            said = "its answer to the request for the brokers cannot be read"
        else:
            continue
        seen = (f"first bytes: {_legible(probed.probe.first_bytes)}",) if probed.probe.first_bytes else ()
        remedy = probed.mended_here()
        if probed.path is None:
            forward = "if a gateway listens here: see where its forward leads"
            remedy = Remedy(("give the port of a Kafka listener",), (forward,))
        yield finding(probed.severity, probed, said, seen, remedy=remedy)


@check("BN105")
def controller_listener(evidence: Evidence) -> Iterator[CheckFinding]:
    """A controller is given for a broker.

    Cause: {subjects} is a controller's listener, where clients cannot read metadata.
    What: what answers is a KRaft controller's own listener: it takes registrations of brokers and knows no metadata.
    Why: the port of `controller.listener.names` is given, often 9093. Clients get UNSUPPORTED_VERSION or are hung up
    on; admin tools say MISMATCHED_ENDPOINT_TYPE (KIP-919).
    Remedy: the port of a broker's listener.
    """
    for probed in probed_endpoints(evidence):
        if probed.probe.speaks == "controller":
            remedy = Remedy(("give the port of a listener that is not in `controller.listener.names`",))
            message = "a KRaft controller answers, which serves brokers and no clients"
            seen = ("the requests that it knows: BrokerRegistration is among them, Metadata is not",)
            remedy = remedy if probed.path is None else probed.mended_here()
            yield finding(probed.severity, probed, message, seen, remedy=remedy)


@check("BN309")
def hung(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker takes connections and does not answer.

    Cause: {subjects} takes connections and does not answer{reason}.
    What: TCP connections are accepted, and requests get no answer in all tries.
    Why: the broker's process hangs (a long garbage collection, a full disk, a stopped container), the data of the
    connection is dropped behind the handshake by a firewall, or a gateway accepts for a broker that does not answer.
    Remedy: look at the broker's process and log; then at what stands between.
    """
    silent = [(probed, _ended(probed.probe, "silent", "stalled")) for probed in probed_endpoints(evidence)]
    certain = {stage for probed, stage in silent if stage is not None and probed.doubt is None}
    for probed, stage in silent:
        # What was silent once, when the time ran out, may be slow; not where others certainly are silent.
        if stage is None or (probed.doubt is not None and stage not in certain):
            continue
        received = getattr(getattr(probed.probe, stage), "received", 0)
        message = f"{_REQUESTS[stage]} gets no answer" if not received else f"its answer ends after {received} bytes"
        fix = (
            f"see whether {probed.node} hangs: its log, a thread dump (`jcmd PID Thread.print`), its disk",
            f"see whether a firewall or a gateway before {probed.probe.endpoint} drops data after the handshake",
            "see whether its listener has as many connections as `max.connections` allows, and waits for one to end",
        )
        yield finding(probed.severity, probed, message, _tries(probed, stage), broker=fix)


@check("BN310")
def closed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Connections are closed at the first request.

    Cause: Something on the path closes connections to {subjects}{reason}.
    What: TCP connections are accepted, and closed or reset before the first byte of an answer, in all tries.
    Why: a gateway or balancer accepts for a broker that is down or that it does not reach; a middlebox that does not
    let Kafka pass; a listener that wants TLS.
    Remedy: see that the broker behind the gateway runs and is reached from the gateway.
    """
    for probed in probed_endpoints(evidence):
        stage = _ended(probed.probe, "closed", "reset")
        if stage is None or stage == "sasl" or (stage == "metadata" and probed.probe.sasl is None):
            # Kafka closes the connection of a user that it does not let in: BN404.
            continue
        fix = (
            f"if a gateway or balancer listens there: see that {probed.node} runs, that the gateway reaches it, takes "
            "as many connections as clients open, and sends no header of the PROXY protocol, which Kafka does not know",
            "if it is the broker itself: see its log for the reason why it ends the connection",
        )
        own = ["see that this is the port of one of Kafka's listeners"] if probed.path is None else []
        if stage == "tls" and address(probed.probe.name) is not None:
            by_name = (
                "where a gateway chooses the broker by the name of the TLS handshake (SNI): bootstrap by that name"
            )
            own.append(f"{by_name}; an address is never sent as one")
        message = f"the connection is {getattr(probed.probe, stage).outcome} at {_REQUESTS[stage]}"
        yield finding(probed.severity, probed, message, _tries(probed, stage), client=own, broker=fix)


@check("BN311")
def cut(evidence: Evidence) -> Iterator[CheckFinding]:
    """An answer of Kafka is cut.

    Cause: Something on the path cuts the answers of {subjects}{reason}.
    What: an answer begins as Kafka's and the connection ends before it is whole.
    Why: a middlebox that ends connections after some bytes, a proxy with a limit, or a broker that is killed.
    Remedy: look at what stands between this machine and the broker: proxies, firewalls that inspect, VPNs.
    """
    for probed in probed_endpoints(evidence):
        stage = _ended(probed.probe, "cut")
        if stage is not None:
            received = getattr(getattr(probed.probe, stage), "received", 0)
            message = f"the connection ends after {received} bytes of the answer" if received else "the answer is cut"
            end = probed.probe.endpoint
            fix = f"see which proxy, firewall or VPN stands before {end}, and let it pass the connection unchanged"
            yield finding(probed.severity, probed, message, _tries(probed, stage), broker=fix)


@check("BN312")
def large_messages(evidence: Evidence) -> Iterator[CheckFinding]:
    """Large messages do not get through.

    Cause: Small messages get through and large ones do not at {subjects}{reason}.
    What: a request or an answer of more than 1,500 bytes or of more than 8 KiB is lost or cut, where small ones get
    through. Clients connect, and then time out when they produce or fetch.
    Why: a packet size (MTU) that the path does not carry: a tunnel, a VPN or an overlay network whose ICMP messages
    `fragmentation needed` are dropped; or a middlebox that stops at a size.
    Remedy: a smaller MTU at the interface, or the MSS clamped at the gateway of the tunnel.
    """
    for probed in probed_endpoints(evidence):
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
            client=f"compare the MTU of the path: `ping -M do -s 1472 {probed.host}`; lower the "
            "interface's MTU if a tunnel or a VPN is on it",
            broker="clamp the MSS at the gateway of the tunnel or VPN, or let ICMP `fragmentation needed` pass",
        )


@check("BN313")
def flaky(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some connections fail.

    Cause: Some connections to {subjects} fail{reason}.
    What: some tries of a stage failed and a later one worked. Clients try again and get through, more slowly. Where
    nine of ten fail, it is an error.
    Why: packets are lost, a balancer has a dead member, a limit of connections (`max.connections.per.ip`), or a
    firewall that forgets connections.
    Remedy: none is needed for a client that tries again; look for the loss where it is often.
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
        if not seen or not (probed.failure is None or probed.failure.doubt):
            continue
        if any(each.made >= _MANY and each.failed >= _MOST_OF * each.made for each in mixed):
            message = f"hardly any try works ({seen[0]})"
            more = "see that what listens there takes more than one connection (`socat` does with `fork` alone)"
            fix = (f"{more}, and how many it allows", "see whether it is restarted again and again")
            dialled = any(each.probe.endpoint == probed.probe.endpoint for each in dialled_nodes(evidence))
            severity = Severity.ERROR if dialled else probed.severity
            yield finding(severity, probed, message, seen, broker=fix, explains=False)
        else:
            message = f"some tries failed, a later one worked ({seen[0]})"
            lost = "see whether packets are lost, or connections are limited, on the way"
            yield warning(probed, message, seen, broker=lost, explains=False)


def _now_and_then(probe: EndpointProbe) -> list[Tries]:
    """Stages that worked at some tries; those at an address that never takes a connection are BN303's."""
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
    What: a connection or an answer took a second or more. Clients work, with larger time-outs if need be.
    Why: a long path, packets that are lost and sent again (the first repeat of a connection comes after a second), an
    overloaded broker or gateway.
    Remedy: `request.timeout.ms` and `socket.connection.setup.timeout.ms` of the client above these times.
    """
    for probed in probed_endpoints(evidence):
        took = [(each.largest, each.median, each.stage) for each in probed.probe.tries if each.failed < each.made]
        longest = max(took, default=(0.0, 0.0, ""))
        if longest[0] < _NOTICED or (probed.failure is not None and not probed.failure.doubt):
            continue
        severity = Severity.WARNING if longest[1] >= _SLOW else Severity.INFO
        message, fix = f"slow: {longest[2]} takes {longest[0]:.1f} s", "keep the time-outs of clients above this"
        if longest[2] == "resolve":
            message = f"slow: the name servers of this machine take {longest[0]:.1f} s for `{probed.host}`"
            fix = "see which name server of /etc/resolv.conf answers late: each is asked in turn, for IPv4 and for IPv6"
        yield finding(severity, probed, message, client=fix, explains=False)


@check("BN315", explains=("BN401", "BN404", "BN407"))
def unlike_its_neighbours(evidence: Evidence) -> Iterator[CheckFinding]:
    """One endpoint is unlike its neighbours.

    Cause: One endpoint is unlike the others: {messages}.
    What: this client, as it is configured, gets further at other nodes of the cluster than at this one.
    Why: a proxy stands before this node alone, its forward leads to another listener (one with TLS, with a login,
    without either), or this broker's listener is configured unlike the others'.
    Remedy: at that place: the forward, the proxy or the listener of this node. A change to the client would break the
    others.
    """
    for probed in probed_endpoints(evidence):
        unlike = _unlike(probed.probe)
        if probed.path is None or probed.failure is None or unlike is None:
            continue
        stage, what = unlike
        if others := probed.others_past(stage):
            message = f"{what} at {probed.subject}, unlike at {nodes_of(others)}"
            seen = filter(None, (f"this client gets further at {nodes_of(others)}", probed.failure.detail))
            yield error(probed, message, tuple(seen), remedy=probed.mended_here())


def _unlike(probe: EndpointProbe) -> tuple[Stage, str] | None:
    """The stage that fails, and what stands there, where the client's settings could be meant."""
    if probe.tls is not None and not probe.tls.ok:
        if probe.tls.outcome == "not-tls":
            return None if probe.tls.protocol else ("tls", "no TLS is spoken")
        return ("tls", _UNLIKE_TLS[probe.tls.outcome]) if probe.tls.outcome in _UNLIKE_TLS else None
    if probe.versions is not None and probe.versions.protocol == "TLS":
        return "versions", "TLS is spoken"
    if probe.sasl is not None and probe.sasl.outcome == "mechanism-not-offered":
        return "sasl", f"the login is by {', '.join(probe.sasl.offered)}" if probe.sasl.offered else "no login is taken"
    if probe.sasl is not None and probe.sasl.outcome in ("rejected", "closed", "reset"):
        return "sasl", "the login is refused"
    if probe.sasl is None and probe.metadata is not None and probe.metadata.outcome in ("closed", "reset"):
        return "metadata", "Kafka closes the connection without a login"
    return None


_UNLIKE_TLS = {
    "failed": "the TLS handshake fails",
    "client-certificate": "the TLS handshake fails",
}


def _ended(probe: EndpointProbe, *faults: str) -> Stage | None:
    """The stage that ends so."""
    for stage in _REQUESTS:
        result = getattr(probe, stage)
        if result is not None and not result.ok:
            return stage if result.outcome in faults else None
    return None


def _tries(probed: ProbedEndpoint, stage: Stage) -> list[str]:
    """How often it was tried, and where the same works."""
    tried = probed.probe.tried(stage)
    seen = [f"{_REQUESTS[stage]}: {tried.failed} of {tried.made} tries failed"] if tried is not None else []
    if others := probed.others_past(stage):
        seen.append(f"it works at {nodes_of(others)}")
    return seen


def _legible(first_bytes: str) -> str:
    """Bytes as text; those that show nothing in hexadecimal."""
    try:
        raw = bytes.fromhex(first_bytes)
    except ValueError:
        return first_bytes
    return "".join(chr(each) if 32 <= each < 127 else f"\\x{each:02x}" for each in raw)


_CUT = ("cut", "closed", "reset")
