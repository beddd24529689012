"""Checks of TLS (protocols and handshake) and of the SASL login."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brokernat.address import parse_rule
from brokernat.doctor.checks.places import handshakes, is_of_own_versions, probed_endpoints
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.checks.remedies import port_of_another, unless_it_works_elsewhere
from brokernat.doctor.evidence import Evidence, Stage
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy
from brokernat.doctor.host_kinds import address

_OTHER = {
    "PLAINTEXT": "SSL` or `SASL_SSL",
    "SSL": "PLAINTEXT",
    "SASL_PLAINTEXT": "SASL_SSL",
    "SASL_SSL": "SASL_PLAINTEXT",
}


@check("BN401")
def tls_mismatch(evidence: Evidence) -> Iterator[CheckFinding]:
    """One side speaks TLS, the other does not.

    Cause: The client and {subjects} do not agree on TLS{reason}.
    What: the client is configured without TLS and the port speaks TLS, or the reverse; or a gateway ends TLS and sends
    plain bytes to a port that expects TLS.
    Why: `security.protocol` or the port belongs to another listener. A plain client may read the TLS alert as a length
    and run out of memory; a broker logs `Invalid receive (size = 369295616)`.
    Remedy: set the `security.protocol` of this listener, or use the port of the other listener; let a gateway pass TLS.
    """
    for probed in probed_endpoints(evidence):
        tls, versions = probed.probe.tls, probed.probe.versions
        if tls is not None and tls.ok and versions is not None and versions.protocol == "TLS":
            message = "the answer within TLS is TLS again: a gateway ends TLS there, and the port behind it expects TLS"
            fix = "let the gateway pass TLS through (nginx `stream` without `ssl`, HAProxy `mode tcp` without `ssl`)"
            again = "or let it speak TLS to the broker (nginx `proxy_ssl on`, HAProxy `server … ssl`)"
            yield error(probed, message, broker=(fix, again))
            continue
        plain = tls is None and probed.probe.speaks == "tls"
        if plain or (tls is not None and tls.outcome == "not-tls" and not tls.protocol):
            one, other = ("port", "client") if plain else ("client", "port")
            own = evidence.security_protocol
            change = f"`security.protocol: {_OTHER.get(own, 'PLAINTEXT')}`"
            message = f"the {one} speaks TLS and the {other} does not (`security.protocol: {own}`)"
            fix = "use the port of the other listener"
            if tls is None or tls.plain:
                fix = f"set {change}, or {fix}"
            stage: Stage = "versions" if plain else "tls"
            remedy = unless_it_works_elsewhere(probed, stage, Remedy((fix,)))
            if probed.path is not None and probed.bootstraps_past(stage) and not probed.others_past(stage):
                message += ", unlike the bootstrap servers, which may be a proxy"
                end = probed.path.broker.endpoint
                past_it = f"or bypass the proxy: bootstrap at advertised endpoints such as {end}, with {change}"
                remedy = replace(remedy, client=(*remedy.client, past_it))
            if probed.path is not None and (exchanged := port_of_another(evidence, probed.path)):
                remedy = replace(remedy, broker=exchanged)
            yield error(probed, message, remedy=remedy)


_HANDSHAKE = {
    "PROTOCOL": (
        "client and broker have no TLS version in common",
        Remedy(
            ("compare `ssl.enabled.protocols` with the brokers'",),
            ("see that the listener's `ssl.enabled.protocols` has TLSv1.2 or TLSv1.3",),
        ),
    ),
    "UNRECOGNIZED_NAME": (
        "the peer does not know the TLS server name (SNI)",
        Remedy(
            ("use a name that the gateway knows, with a rule of the address map that leads to the gateway",),
            ("check which server names the gateway knows",),
        ),
    ),
    "no answer": (
        "the port accepts the connection and does not answer the TLS ClientHello",
        Remedy(("check that this is the listener's port",), ("check that the broker is not overloaded",)),
    ),
}
_ELSE = (
    "the TLS handshake fails",
    Remedy(
        ("compare `ssl.enabled.protocols` and `ssl.cipher.suites` with the brokers'",),
        ("if a gateway terminates TLS here: check whether it requires a client certificate",),
    ),
)


@check("BN407")
def handshake(evidence: Evidence) -> Iterator[CheckFinding]:
    """The TLS handshake fails.

    Cause: The client and {subjects} cannot agree on a TLS connection{reason}.
    What: both sides speak TLS and the handshake fails: no common version or cipher suite, an unknown name, or no
    answer.
    Why: `ssl.enabled.protocols` or `ssl.cipher.suites` have no value in common; a gateway selects brokers by the TLS
    server name (SNI) and does not know this one; or a gateway in front of Kafka requires a client certificate.
    Remedy: use settings that both sides support: `TLSv1.2,TLSv1.3`, and no list of suites unless one is required.
    """
    for probed, tls in handshakes(evidence):
        if tls.outcome == "failed":
            message, remedy = next((said for word, said in _HANDSHAKE.items() if word in tls.detail), _ELSE)
            if is_of_own_versions(evidence, probed.probe):
                message, remedy = _versions(message, evidence.tls_versions)
            elif by_name := probed.chosen_by_name:
                remedy = Remedy(broker=(by_name,))
            yield error(probed, message, (tls.detail,), remedy=remedy)


def _versions(message: str, own: Sequence[str]) -> tuple[str, Remedy]:
    """The message and the remedy if the client's configuration names its TLS versions."""
    message += f": the client's `ssl.enabled.protocols` has {' and '.join(own)}"
    older = "the listener has only TLS 1.1 or older: set its `ssl.enabled.protocols` to `TLSv1.2,TLSv1.3`"
    if len(own) > 1:
        return message, Remedy(broker=(older,))
    message += f" only, and the listener does not have {own[0]}"
    fix = "set `ssl.enabled.protocols=TLSv1.2,TLSv1.3` in the client, or omit it"
    return message, Remedy((fix,), (f"add {own[0]} to the listener's `ssl.enabled.protocols`",))


@check("BN404")
def login(evidence: Evidence) -> Iterator[CheckFinding]:
    """The login fails.

    Cause: The login fails at {subjects}{reason}.
    What: the broker does not offer the client's mechanism, rejects user name and password, or closes the connection
    during the login.
    Why: the client uses another listener, the password is wrong, or the user is unknown. The report quotes the broker's
    error; it never contains a secret.
    Remedy: use a mechanism that is offered, or the right credentials.
    """
    for probed in probed_endpoints(evidence):
        probe, sasl = probed.probe, probed.probe.sasl
        after_tls = probe.tls is None or probe.tls.ok
        if probe.may_require_login and after_tls and probe.speaks == "kafka" and probe.complete:
            protocol = "SASL_PLAINTEXT" if probe.tls is None else "SASL_SSL"
            offered, confidence = "`sasl.mechanism`", Confidence.LIKELY
            if probe.mechanisms:
                offered, confidence = f"{offered} ({', '.join(probe.mechanisms)})", Confidence.PROVEN
            fix = f"give the client a login: `security.protocol: {protocol}`, {offered}, user name and password"
            message = "Kafka answers, and closes the connection of a client without a login"
            remedy = unless_it_works_elsewhere(probed, "metadata", Remedy((fix,)))
            yield error(probed, message, remedy=remedy, confidence=confidence)
        elif sasl is None or sasl.outcome in ("ok", "silent", "stalled", "cut"):
            continue
        elif sasl.outcome == "not-tried":
            yield warning(probed, sasl.detail)
        elif sasl.outcome == "mechanism-not-offered":
            offered = ", ".join(sasl.offered)
            message = f"the mechanism {evidence.mechanism} is not offered"
            fix = f"set `sasl.mechanism` to one that is offered: {offered}"
            if not offered:
                message, protocol = "the listener supports no login", "PLAINTEXT" if probe.tls is None else "SSL"
                fix = f"set `security.protocol: {protocol}`, or use the port of a listener with a login"
            remedy = unless_it_works_elsewhere(probed, "sasl", Remedy((fix,)))
            yield error(probed, message, (f"offered: {offered or 'none'}",), remedy=remedy)
        else:
            refused, given = "user name or password are rejected", "user name and password"
            if evidence.mechanism == "OAUTHBEARER":
                refused, given = "the token is rejected", "the token"
            what = refused if sasl.outcome == "rejected" else "the broker closes the connection during the login"
            fix, own = f"check {given} for {evidence.mechanism}", "check that the user exists for this mechanism"
            yield error(probed, what, (f"the broker reports: {sasl.detail}",), client=fix, broker=own)


@check("BN408")
def password_in_the_clear(evidence: Evidence) -> Iterator[CheckFinding]:
    """A password is sent unencrypted.

    Cause: The password is sent unencrypted to {subjects}.
    What: the client logs in with PLAIN and without TLS.
    Why: PLAIN sends the password as it is, so anyone who can capture the packets can read it.
    Remedy: use `SASL_SSL`, or a SCRAM mechanism, which does not send the password.
    """
    sent = any(probed.probe.sasl is not None for probed in probed_endpoints(evidence))
    if sent and evidence.mechanism == "PLAIN" and evidence.security_protocol == "SASL_PLAINTEXT":
        fix = "use `security.protocol: SASL_SSL`, or SCRAM-SHA-512 for the login"
        message = "the password is sent unencrypted (PLAIN without TLS): anyone who captures the packets can read it"
        yield info(evidence.subject, message, client=fix)


@check("BN406", Need.MAP)
def kerberos_host(evidence: Evidence) -> Iterator[CheckFinding]:
    """Kerberos gets an address as the host name.

    Cause: Kerberos identifies brokers by name, but the address map has rules for addresses: {subjects}.
    What: the client logs in with Kerberos, and the address map has rules for brokers that advertise addresses.
    Why: without a map, Java resolves the address to a name and requests a ticket for that name. With the map, Java
    keeps the address as the name, and there is no ticket for `kafka/192.168.1.23`.
    Remedy: advertise names, which the map keeps unchanged for Kerberos.
    """
    # The doctor does not log in with Kerberos, so only the map shows what the brokers advertise.
    if evidence.mechanism != "GSSAPI":
        return
    for rule in evidence.rules or ():
        host = str(parse_rule(rule).pattern.hosts).strip("[]").partition("/")[0]
        if address(host) is not None:
            fix = "advertise the names that are in the nodes' Kerberos principals"
            message = f"clients request a Kerberos ticket for an address: `kafka/{host}`"
            yield warning(f"rule {rule}", message, broker=fix, confidence=Confidence.LIKELY)
