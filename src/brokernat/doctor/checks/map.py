"""Checks of the address map: missing, unused, reversed and conflicting rules."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from ipaddress import ip_address

from brokernat.address import AddressMap, CidrRule, Endpoint, HostPortRule, lint, parse_rule
from brokernat.doctor.checks.failures import once, path_failure
from brokernat.doctor.checks.places import (
    bootstrap_servers,
    dialled_nodes,
    is_node,
    place_of,
    probed_endpoints,
    server_of,
)
from brokernat.doctor.checks.proven_rules import known_line, proven_line, proven_lines
from brokernat.doctor.checks.registry import Need, check, error, finding, info, warning
from brokernat.doctor.evidence import Advertised, BrokerPath, Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy, Severity
from brokernat.doctor.host_kinds import dialable, is_loopback, neighbours
from brokernat.errors import Finding
from brokernat.text import listed

_ALIKE, _MOST_COMPARED = 0.85, 10
"""How much of two endpoints must be equal, so that one may be a typo of the other; and the number of unused rules up to
which each is compared."""


@check("BN605", Need.METADATA, Need.MAP, explains=("BN202", "BN203"))
def rule_missing(evidence: Evidence) -> Iterator[CheckFinding]:
    """An advertised endpoint has no rule.

    Cause: The address map has no rule for {subjects}, and `unmapped: fail` refuses such endpoints.
    What: the map has `unmapped: fail`, and no rule matches an advertised endpoint.
    Why: a broker is new, or its address or port has changed.
    Remedy: add the rule; or set `unmapped: pass` if clients can dial the endpoint directly.
    """
    unused = {rule.partition("=")[0].strip(): rule for rule in _unused_rules(evidence)}
    # An unused rule is probably that of a node that is down.
    compared = unused if len(unused) <= _MOST_COMPARED and not _missing(evidence) else {}
    for path in evidence.paths:
        end = path.broker.endpoint
        if path.probe is not None or not dialable(path.broker.host, path.broker.port):
            continue
        client = [
            *_too_narrow(evidence, path.broker.host),
            *(
                f"correct the left side of `{unused[each]}` if it is meant for this node; its target was not tested"
                for each in get_close_matches(end, compared, n=1, cutoff=_ALIKE)
            ),
        ]
        rules = proven_line(evidence, path)
        if path.direct is not None and path.direct.connected and not is_loopback(path.broker.host):
            passed = "set `unmapped: pass` if clients may dial it: the endpoint accepts connections from here"
            client, rules = [passed, *client], known_line(evidence, path) or (f"{end} = {end}",)
        message = "no rule of the address map matches it, so clients do not dial it"
        yield error(place_of(path, evidence), message, client=client, rules=rules)


def _too_narrow(evidence: Evidence, host: str) -> Iterator[str]:
    """Advice to widen rules of networks that nearly contain an address."""
    for rule in map(parse_rule, evidence.rules or ()):
        if isinstance(rule, CidrRule) and neighbours(str(rule.advertised.network_address), host, small=True):
            wide = rule.advertised
            while ip_address(host) not in wide:
                wide = wide.supernet()
            sides = f"to /{wide.prefixlen} on both sides"
            yield f"widen `{rule}` {sides} if it is meant for {host}, which it does not contain"


@check("BN606", Need.METADATA, Need.MAP)
def rule_unused(evidence: Evidence) -> Iterator[CheckFinding]:
    """A rule is never used.

    Cause: {subjects} is never used.
    What: the rule matches no currently advertised endpoint and no bootstrap server, or earlier rules match all that it
    matches.
    Why: the broker was removed or has another address; the rule has a typo; or it is a wider rule behind those of each
    broker.
    Remedy: remove or correct it. A wider rule behind the others may stay, for brokers that are added later.
    """
    missing = _missing(evidence)
    # Keep the rule of a broker that is down.
    unless = f", unless it is for node {', '.join(map(str, sorted(missing)))}, which is missing" if missing else ""
    unused = _unused_rules(evidence)
    for rule in unused:
        named = f"`{rule}`" if len(unused) <= _SHOWN else "these rules"
        alone = AddressMap.parse(rule)
        # Earlier rules translate the endpoints that this rule matches, too.
        before = list(dict.fromkeys(path.rule for path in evidence.paths if path.rule and _matches(alone, path.broker)))
        if before:
            shown = ", ".join(f"`{each}`" for each in before[:_SHOWN]) + (", …" if len(before) > _SHOWN else "")
            message = f"earlier rules match every endpoint that it matches ({shown})"
            fix = f"remove {named}, unless kept for brokers that are added later"
            yield info(f"rule {rule}", message, client=fix)
        else:
            fix = f"remove or correct {named}{unless}"
            yield warning(f"rule {rule}", "it matches no advertised endpoint", client=fix)


def _missing(evidence: Evidence) -> set[int]:
    """The nodes that partitions name and that no bootstrap server advertises."""
    return set(evidence.replicas or ()) - {path.broker.node_id for path in evidence.paths}


def _matches(rules: AddressMap, broker: Advertised) -> bool:
    return dialable(broker.host, broker.port) and rules.find(Endpoint(broker.host, broker.port)) is not None


@once
def _unused_rules(evidence: Evidence) -> list[str]:
    """The rules that nothing uses; none if no node uses any rule, which BN609 reports for the whole map."""
    used = {path.rule for path in evidence.paths}
    if used.isdisjoint(evidence.rules or ()):
        return []
    used |= {probe.rule for probe in evidence.bootstraps}
    used |= {rule for rule, each in _map_doubts(evidence) if each.code in _HIDING}
    return [rule for rule in evidence.rules or () if rule not in used]


@check("BN607", Need.MAP, explains=("BN103", "BN302", "BN305", "BN308", "BN601", "BN603"))
def rules_in_conflict(evidence: Evidence) -> Iterator[CheckFinding]:
    """Rules of the map conflict.

    Cause: The address map contradicts itself: {messages}.
    What: an earlier rule hides another one, two rules contradict each other or share a target, or a target is itself
    advertised.
    Why: the map was edited by hand. The first matching rule wins, and a translated endpoint is not translated again.
    Remedy: follow the hint of each rule; `brokernat map check` reports the same without a network.
    """
    rules, unused = evidence.rules or (), {*_unused_rules(evidence)}
    for rule, each in _map_doubts(evidence):
        hidden_for = hidden_rules(evidence).get(rule) if each.code in _HIDING else None
        if hidden_for is not None:
            message = f"`{hidden_for.rule}` stands before `{rule}` and leads elsewhere"
            fix = f"put `{rule}` before `{hidden_for.rule}`, or remove that one"
            proof = [f"proven: {line}" for line in known_line(evidence, hidden_for)]
            if not proof:
                fix += f"; the target of `{rule}` was not tested"
            sure = Confidence.PROVEN if proof else Confidence.LIKELY
            failure = path_failure(hidden_for, evidence)
            yield error(f"rule {rule}", message, proof, client=fix, explains=[failure], confidence=sure)
            continue
        if each.code == _SHARED and unused.intersection(rules[n] for n in each.rules):
            # BN606 reports the rule that is never used.
            continue
        led = [path for path in evidence.paths if path.rule == rule]
        # A gateway chooses by the name in TLS (SNI), or the rules exchange forwards.
        if each.code in (_SHARED, _CHAINED) and led and all(is_node(path.probe, path.broker.node_id) for path in led):
            continue
        # The first match wins and may be correct. If it is not, its target causes another error.
        failing = [path for path in led if path_failure(path, evidence) is not None]
        proven = known_line(evidence, failing[0]) if len(failing) == 1 else ()
        remedy = Remedy(rules=proven) if proven else Remedy((each.hint,) if each.hint else ())
        yield warning(f"rule {rule}", each.message, (each.code,), remedy=remedy)


@once
def _map_doubts(evidence: Evidence) -> list[tuple[str, Finding]]:
    """The warnings about the client's map, each with its rule."""
    rules = evidence.rules or ()
    return [(rules[each.rules[-1]], each) for each in lint(AddressMap.parse("\n".join(rules)))] if rules else []


@once
def hidden_rules(evidence: Evidence) -> dict[str, BrokerPath]:
    """The rules that an earlier one hides, each with the path that fails because of that."""
    hidden = {rule: _hidden_for(evidence, rule) for rule, each in _map_doubts(evidence) if each.code in _HIDING}
    return {rule: path for rule, path in hidden.items() if path is not None}


def _hidden_for(evidence: Evidence, rule: str) -> BrokerPath | None:
    """The path that fails because an earlier rule hides this one, which is proven for its node; or no rule is proven
    for it, and this one matches it, too.
    """
    alone = AddressMap.parse(rule)
    for path in evidence.paths:
        failure = path_failure(path, evidence)
        if not path.rule or path.rule == rule or failure is None or failure.doubt:
            continue
        proven = [line.replace(" = ", "=") for line in known_line(evidence, path)]
        # A wider rule that leads to another node may be right, and the forward wrong; two rules of one endpoint cannot,
        # and neither can a rule that leads several nodes to one endpoint.
        led_alike = [each for each in evidence.paths if each.rule == path.rule and _same_end(each, path)]
        several = sum(path_failure(each, evidence) is not None for each in led_alike) > 1
        alike = several or path.rule.partition("=")[0] == rule.partition("=")[0]
        lost = failure.stage == "connect" or (failure.stage == "identity" and alike)
        if rule in proven or (not proven and lost and _matches(alone, path.broker)):
            return path
    return None


def _same_end(one: BrokerPath, other: BrokerPath) -> bool:
    return one.probe is not None and other.probe is not None and one.probe.endpoint == other.probe.endpoint


_HIDING = ("duplicate-rule", "contradicting-rule", "shadowed-rule")
"""The warnings about a rule that an earlier one hides."""
_SHOWN = 3
_SHARED, _CHAINED = "shared-target", "chained-rule"


@check("BN609", Need.METADATA, Need.MAP, explains=("BN605",))
def map_of_another_time(evidence: Evidence) -> Iterator[CheckFinding]:
    """The map is for other endpoints.

    Cause: No rule of the address map matches an endpoint that {subjects} advertises now.
    What: no rule of the address map matches a currently advertised endpoint or a bootstrap server.
    Why: the map was written for another cluster or another listener, or the brokers have moved since.
    Remedy: write a new map from the currently advertised endpoints.
    """
    used = any(path.rule for path in evidence.paths) or any(probe.rule for probe in evidence.bootstraps)
    if not evidence.rules or not evidence.paths or used:
        return
    advertised = listed([path.broker.endpoint for path in evidence.paths])
    severity = Severity.ERROR if evidence.unmapped == "fail" else Severity.WARNING
    message = "no rule matches an advertised endpoint"
    seen = (f"advertised: {advertised}", f"first rule: {evidence.rules[0]}")
    client = (*_other_ports(evidence), "write a new map: `brokernat discover` finds the rules")
    remedy = Remedy(client, rules=proven_lines(evidence))
    unmapped = [path_failure(path, evidence) for path in evidence.paths if path.probe is None]
    yield finding(severity, evidence.subject, message, seen, remedy=remedy, explains=unmapped)


def _other_ports(evidence: Evidence) -> Iterator[str]:
    """What is wrong with rules for the advertised hosts with another port."""
    now = {path.broker.host.lower(): path.broker.port for path in evidence.paths}
    for rule in map(parse_rule, evidence.rules or ()):
        port = now.get(rule.advertised.host) if isinstance(rule, HostPortRule) else None
        if isinstance(rule, HostPortRule) and port not in (None, rule.advertised.port):
            yield f"if only the port has changed: correct it in `{rule}`; the broker advertises port {port} now"


@check(
    "BN616",
    Need.NETWORK,
    Need.MAP,
    explains=("BN102", "BN103", "BN301", "BN302", "BN605", "BN606", "BN607", "BN609", "BN308", "BN309", "BN310"),
)
def reversed_rules(evidence: Evidence) -> Iterator[CheckFinding]:
    """The sides of rules are exchanged.

    Cause: The sides of rules in the address map are exchanged: {messages}.
    What: a rule's right side is an advertised endpoint, or the rule sends a bootstrap server to an endpoint that does
    not answer.
    Why: a rule is `advertised = reachable`. A reversed rule sends clients from a working endpoint to one that does not
    work.
    Remedy: exchange the sides.
    """
    advertised = {broker.endpoint for probed in probed_endpoints(evidence) for broker in probed.probe.brokers or ()}
    dead = _dead_by_rule(evidence)
    sides = {text: (str(parse_rule(text).pattern), text.partition("=")[2]) for text in evidence.rules or ()}
    proven = {text for text, (left, right) in sides.items() if right in advertised and left not in advertised}
    # If no bootstrap server answers, only the gateway's host shows which other rules are reversed.
    gateways = {_host(left) for text, (left, _) in sides.items() if text in proven or text in dead}
    for text, (left, right) in sides.items():
        if text in proven:
            why = f"a broker advertises {right}"
        elif text in dead:
            why = f"{right} does not answer, and {left} does"
        elif not advertised and _host(left) in gateways and _host(right) not in gateways:
            why = f"{_host(left)} is on the left side of other reversed rules"
        else:
            continue
        unmapped = (path_failure(path, evidence) for path in evidence.paths if path.broker.endpoint == right)
        fix = "a rule is `advertised = reachable`: exchange its sides"
        rules: tuple[str, ...] = (f"{right} = {left}",)
        # The other rules of this host are right, and a second one would be in conflict with them.
        if others := [each for each, (end, _) in sides.items() if each != text and _host(end) == _host(right)]:
            fix, rules = f"remove `{text}`: a rule is `advertised = reachable`, and `{others[0]}` is there already", ()
        yield error(
            f"rule {text}",
            f"`{text}` ({why})",
            client=fix,
            rules=rules,
            explains=[*unmapped, *dead.get(text, ())],
            confidence=Confidence.PROVEN if text in proven else Confidence.LIKELY,
        )


def _host(end: str) -> str:
    return end.rpartition(":")[0] or end


def _dead_by_rule(evidence: Evidence) -> dict[str, list[Failure]]:
    """The failures of bootstrap servers that answer at the configured endpoint, and not at the rule's target."""
    found: dict[str, list[Failure]] = {}
    as_written = {each.endpoint for each in evidence.as_written if each.connected}
    for probed in bootstrap_servers(evidence):
        rule, failure = probed.probe.rule, probed.failure
        if rule is None or failure is None or failure.stage not in ("resolve", "connect"):
            continue
        if server_of(probed.probe) in as_written:
            found.setdefault(rule, []).append(failure)
    return found


@check("BN617", Need.METADATA, Need.MAP, explains=("BN305", "BN601", "BN603", "BN606", "BN607", "BN308"))
def chained_rules(evidence: Evidence) -> Iterator[CheckFinding]:
    """A rule's target matches another rule.

    Cause: The address map is applied only once, but rules are chained: {messages}.
    What: a rule leads to an endpoint that another rule matches, and clients fail there.
    Why: an endpoint is translated once; clients dial the target of a rule as it is.
    Remedy: write one rule from the advertised endpoint to the reachable one.
    """
    rules = AddressMap.parse("\n".join(evidence.rules or ()))
    advertised = {path.broker.endpoint for path in evidence.paths}
    for probed in dialled_nodes(evidence):
        path = probed.path
        if not path.rule or probed.failure is None or probed.failure.doubt:
            continue
        # A target that is a node's endpoint is meant for that node; BN601 reports it if another node answers.
        end = probed.probe.endpoint
        following = None if end in advertised else rules.find(Endpoint.parse(end))
        if following is None or following.needs_node_id or str(following) == path.rule:
            continue
        last = following.translate(Endpoint.parse(end))
        remedy = Remedy(("write one rule for both steps",), rules=(f"{path.broker.endpoint} = {last}",))
        message = f"the target of `{path.rule}` matches `{following}`"
        yield error(probed, message, (f"rule: {following}",), remedy=remedy)
