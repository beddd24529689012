"""Checks of what gets lost on the path to a Kafka endpoint: silent, closed, cut, flaky and slow connections, and large
messages.

A silent, closed or cut connection may be a hanging broker or a fault on the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from brokernat.doctor.checks.places import (
    ProbedEndpoint,
    dialled_nodes,
    handshakes,
    nodes_of,
    probed_endpoints,
)
from brokernat.doctor.checks.registry import check, error, finding, warning
from brokernat.doctor.evidence import EndpointProbe, Evidence, Stage, Tries
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy, Severity
from brokernat.doctor.host_kinds import address, is_loopback

_REQUESTS: dict[Stage, str] = {
    "tls": "the TLS handshake",
    "versions": "the first request (ApiVersions)",
    "sasl": "the login",
    "metadata": "the Metadata request",
}
_SLOW, _NOTICED = 2.0, 1.0
# The least seconds that a try waits for an answer.
_WAITED, _SILENT = 2.5, frozenset({"silent", "stalled"})
# This many tries with this share of failures are not chance.
_MANY, _MOST_OF = 10, 0.9
# Seconds in which a slow broker is told from one that hangs; bytes of certificates that do not fit into one packet.
_ENOUGH, _ONE_PACKET = 60, 1000
_PING = "`ping -M do -s 1472 HOST`"


@check("BN309")
def hung(evidence: Evidence) -> Iterator[CheckFinding]:
    """A broker accepts connections and does not answer.

    Cause: {subjects} accepts connections and does not answer{reason}.
    What: TCP connections are accepted, and requests get no answer in any try.
    Why: the broker's process hangs (a long garbage collection, a full disk, a stopped container), a firewall drops the
    data after the TCP handshake, or a gateway accepts connections for a broker that does not answer.
    Remedy: check the broker's process and log, then gateways and firewalls on the path.
    """
    silent = _ended(evidence, "silent", "stalled")
    certain = {stage for probed, stage in silent if probed.doubt is None}
    for probed, stage in silent:
        # A peer that was silent when the time ran out may only be slow, unless other endpoints are certainly silent.
        if probed.doubt is not None and stage not in certain:
            continue
        end = "each of these endpoints" if len(silent) > 1 else probed.probe.endpoint
        if received := _received(probed.probe, stage):
            message = f"its answer ends after {received} bytes"
            fix = [
                f"find the proxy, firewall, tunnel or VPN in front of {end} that holds back the rest of the answer",
                f"check the MTU of the path: {_PING}",
            ]
        else:
            tried = probed.probe.tried(stage)
            within = f" within {max(1, round(tried.largest))} s" if tried is not None else ""
            message = f"{_REQUESTS[stage]} gets no answer{within}"
            fix = [
                f"check whether {_the_node(probed, silent)} hangs: its log, a thread dump (`jcmd PID Thread.print`), "
                "its disk",
                f"check whether a firewall or a gateway in front of {end} drops data after the handshake",
            ]
            waits = "check whether the listener has reached `max.connections` or `max.connection.creation.rate`, so "
            waits += "that new connections wait"
            if elsewhere := probed.answering_listeners:
                fix = [f"{probed.node} answers at {elsewhere[0]}, so look at this listener first", waits, *fix]
            else:
                fix.append(waits)
        if stage == "tls":
            # The certificates are the first large answer.
            fix.append(f"check the MTU of the path if only large packets are lost: {_PING}")
        seen = _tries(probed, stage)
        if stage in ("tls", "versions") and probed.probe.tls is not None and evidence.own_chain > _ONE_PACKET:
            # In TLS 1.3 the client's handshake ends before the broker has its certificate.
            seen.append(f"the client's certificates have {evidence.own_chain} bytes: its first large packets")
            lost = "if the listener requires client certificates, this client's may be lost on the path: check its MTU"
            fix.insert(0, f"{lost} ({_PING})")
        client = []
        if all(map(is_loopback, probed.probe.addresses)):
            client.append(f"if a tunnel or a forward listens at {end} of this machine: open it again")
        if (evidence.timeout or 0) < _ENOUGH:
            client.append(f"if it may only be slow, run the doctor again with more time: `--timeout {_ENOUGH}`")
        yield finding(probed.severity, probed, message, seen, client=client, broker=fix, rules=probed.proven_elsewhere)


@check("BN310")
def closed(evidence: Evidence) -> Iterator[CheckFinding]:
    """Connections are closed at the first request.

    Cause: Connections to {subjects} are closed, there or on the path, before Kafka answers{reason}.
    What: TCP connections are accepted and then closed or reset before the first byte of an answer, in all tries.
    Why: a gateway or load balancer accepts connections for a broker that is down or unreachable from it; a middlebox
    blocks Kafka; or the listener expects TLS.
    Remedy: check that the broker behind the gateway runs and that the gateway reaches it.
    """
    ended = _ended(evidence, "closed", "reset")
    for probed, stage in ended:
        if stage == "sasl" or (stage == "metadata" and probed.probe.may_require_login):
            # Kafka closes the connection after a failed login: BN404.
            continue
        gateway = (
            f"if a gateway or a load balancer listens there: check that {_the_node(probed, ended)} runs, that the "
            "gateway reaches it, that it allows enough connections, and that it neither sends nor expects a PROXY "
            "protocol header, which Kafka does not know"
        )
        itself = "if the broker itself listens there: its log has the reason, for example `max.connections.per.ip`"
        at_broker = probed.path is not None and not probed.is_behind_gateway
        fix = [itself, gateway] if at_broker else [gateway, itself]
        if stage == "tls" and (by_name := probed.chosen_by_name):
            fix = [by_name]
        elif probed.others_past(stage):
            fix.append("if a firewall inspects the traffic: compare its rules for this endpoint and for the others")
        own = ["check that this is the port of a Kafka listener"] if probed.path is None else []
        if all(map(is_loopback, probed.probe.addresses)):
            tunnel = f"if a tunnel or a forward listens at {probed.probe.endpoint} of this machine: check where its far"
            own.insert(0, f"{tunnel} end leads, and that the SSH server allows it (`PermitOpen`, `AllowTcpForwarding`)")
        if stage == "tls" and address(probed.probe.name) is not None:
            selects = "if a gateway selects the broker by the TLS server name (SNI): use that name as bootstrap server"
            own.append(f"{selects}; clients never send an address as SNI")
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
    for probed, stage in _ended(evidence, "cut"):
        received = _received(probed.probe, stage)
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
    several = sum(tls.alert for _, tls in handshakes(evidence)) > 1
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
        lost = "cut" if smallest.outcome in ("cut", "closed", "reset") else "lost"
        yield error(
            probed,
            f"{what} from {smallest.size} bytes on are {lost}",
            seen,
            client=mtu,
            broker=clamp,
        )


@check("BN313", explains=("BN103", "BN302", "BN305", "BN308"))
def flaky(evidence: Evidence) -> Iterator[CheckFinding]:
    """Some connections fail.

    Cause: Some connections to {subjects} fail{reason}.
    What: some tries of a stage failed and a later one worked. Clients retry and get through, but more slowly. It is an
    error if nine of ten tries fail, if an endpoint accepts no connection while those to other endpoints are open (a
    client keeps one to each broker), or if no try at an endpoint gets an answer and only some at others of its port do.
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
        end = probed.probe.endpoint
        if lossy := _lost_like_others(probed):
            message = f"no try got an answer, and at {lossy} only some did"
            yield finding(probed.severity, probed, message, seen, broker=_LIMITED, confidence=Confidence.LIKELY)
        elif not probed.works:
            continue
        elif end in evidence.crowded:
            message = "it accepts no connection while those to other endpoints are open, as a client has them"
            yield error(probed, message, seen, broker=_LIMITED, explains=False)
        elif seen and end in evidence.one_at_a_time:
            message = "it accepts only one connection at a time from this machine"
            limit = "raise the limit (`max.connections.per.ip` of the broker, `limit_conn` of nginx, a firewall)"
            more = f"{limit}: a consumer in a group has two connections to its coordinator"
            yield warning(probed, message, seen, broker=more, explains=False)
        elif any(each.made >= _MANY and each.failed >= _MOST_OF * each.made for each in mixed):
            message = f"hardly any try works ({seen[0]})"
            more = "check that the program there accepts more than one connection (`socat` needs `fork`)"
            fix = (f"{more}, and how many it allows", "check whether it restarts again and again")
            dialled = any(each.probe.endpoint == end for each in dialled_nodes(evidence))
            severity = Severity.ERROR if dialled else probed.severity
            yield finding(severity, probed, message, seen, broker=fix, explains=False)
        elif seen:
            message = "some tries failed, a later one worked"
            lost = "check whether the path loses packets or limits connections"
            if any("refused" in each.faults for each in mixed):
                lost = "check whether a firewall or a balancer there rejects some connections, or the broker restarted"
            elif any(each.stage != "connect" and not {"closed", "reset"}.isdisjoint(each.faults) for each in mixed):
                lost = "check whether a load balancer there has a dead member, or something limits connections"
            yield warning(probed, message, seen, broker=lost, explains=False)


def _lost_like_others(probed: ProbedEndpoint) -> str:
    """The other endpoints of this port to which some connections got no answer, if none to this one got one."""
    if probed.failure is None or probed.failure.stage != "connect":
        return ""
    if any(each.outcome != "timeout" for each in probed.probe.attempts):
        return ""
    others = [
        each.probe.endpoint
        for each in probed_endpoints(probed.evidence)
        if each.probe.endpoint != probed.probe.endpoint and each.probe.port == probed.probe.port
        if each.probe.endpoint in probed.evidence.crowded
        or any("timeout" in one.faults for one in _now_and_then(each.probe) if one.stage == "connect")
    ]
    return ", ".join(dict.fromkeys(others[:3]))


_LIMITED = (
    "find what limits the connections of this machine, or their rate (a firewall, a NAT, a proxy): a client needs one "
    "to each broker, and another one",
    "check whether the path loses packets: `ping -c 50 HOST`",
)


def _now_and_then(probe: EndpointProbe) -> list[Tries]:
    """Stages that failed in some tries only. BN303 reports addresses that never accept a connection, and BN314 answers
    for which the first tries did not wait long enough.
    """
    dead = sum(each.failed for each in probe.attempts if each.failed == each.made)
    counted = (
        replace(each, failed=each.failed - dead, made=each.made - dead) if each.stage == "connect" else each
        for each in probe.tries
    )
    return [
        each
        for each in counted
        if 0 < each.failed < each.made and not (each.largest >= _WAITED and _SILENT.issuperset(each.faults))
    ]


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
        tries = [each for each in probed.probe.tries if each.failed < each.made and each.largest >= _NOTICED]
        if not tries or not probed.works:
            continue
        longest = max(tries, key=attrgetter("largest", "median", "stage"))
        severity = Severity.WARNING if longest.median >= _SLOW else Severity.INFO
        message, fix = (
            f"slow: {longest.stage} takes {longest.largest:.1f} s",
            "set the clients' timeouts above this time",
        )
        if all(each.stage == "resolve" for each in tries):
            message = f"slow: the name servers of this machine take {longest.largest:.1f} s for `{probed.host}`"
            fix = "find the slow name server of /etc/resolv.conf: each is queried in turn, for IPv4 and for IPv6"
        yield finding(severity, probed, message, client=fix, explains=False)


def _ended(evidence: Evidence, *faults: str) -> list[tuple[ProbedEndpoint, Stage]]:
    """The endpoints at which a request ends with one of these faults, each with its stage."""
    stopped = ((probed, probed.probe.stopped) for probed in probed_endpoints(evidence))
    return [
        (probed, stage)
        for probed, stage in stopped
        if stage in _REQUESTS and getattr(probed.probe, stage).outcome in faults
    ]


def _received(probe: EndpointProbe, stage: Stage) -> int:
    """The received bytes of the answer of a stage that counts them."""
    return getattr(getattr(probe, stage), "received", 0)


def _tries(probed: ProbedEndpoint, stage: Stage) -> list[str]:
    """The number of tries, and the endpoints at which the same stage works."""
    tried = probed.probe.tried(stage)
    seen = [f"{_REQUESTS[stage]}: {tried.failed} of {tried.made} tries failed"] if tried is not None else []
    if others := probed.others_past(stage):
        seen.append(f"it works at {nodes_of(others)}")
    return seen


def _the_node(probed: ProbedEndpoint, alike: Sequence[tuple[ProbedEndpoint, Stage]]) -> str:
    """The node, or one name for all if several nodes fail alike: equal advice is printed once."""
    nodes = {each.node for each, _ in alike if each.path is not None}
    return "each of these nodes" if probed.path is not None and len(nodes) > 1 else probed.node
