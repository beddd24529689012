"""The login, by SASL."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.address import parse_rule
from brokernat.doctor.checks.queries import probed_endpoints
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Remedy
from brokernat.doctor.host_kinds import address


@check("BN404")
def login(evidence: Evidence) -> Iterator[CheckFinding]:
    """The login fails.

    Cause: The login fails at {subjects}{reason}.
    What: the broker does not offer the client's mechanism, refuses user name and password, or hangs up during the
    login.
    Why: another listener, a wrong password, an unknown user. The broker's own words are quoted; ours never hold a
    secret.
    Remedy: a mechanism that is offered, or the right credentials.
    """
    for probed in probed_endpoints(evidence):
        probe, sasl = probed.probe, probed.probe.sasl
        hung_up = probe.metadata is None or probe.metadata.outcome in ("closed", "reset")
        no_login = sasl is None and (probe.tls is None or probe.tls.ok)
        if hung_up and no_login and probe.speaks == "kafka" and probe.complete:
            remedy = Remedy(("give the client a login: `security.protocol`, `sasl.mechanism`, user name and password",))
            message = "it is Kafka and hangs up on a client that does not log in"
            if probed.others_past("metadata"):
                remedy = probed.mended_here()
            yield error(probed, message, remedy=remedy, confidence=Confidence.LIKELY)
        if sasl is None or sasl.outcome in ("ok", "silent", "stalled", "cut"):
            continue
        if sasl.outcome == "not-tried":
            yield warning(probed, sasl.detail)
        elif sasl.outcome == "mechanism-not-offered":
            offered = ", ".join(sasl.offered)
            message = f"the mechanism {evidence.mechanism} is not offered" if offered else "the listener takes no login"
            fix = f"set `sasl.mechanism` to one that is offered: {offered}"
            if not offered:
                protocol = "PLAINTEXT" if probe.tls is None else "SSL"
                fix = f"set `security.protocol: {protocol}`, or give the port of a listener with a login"
            yield error(probed, message, (f"offered: {offered or 'none'}",), client=fix)
        else:
            given = "the token" if evidence.mechanism == "OAUTHBEARER" else "user name or password"
            refused = f"{given} {'is' if given == 'the token' else 'are'} refused"
            what = refused if sasl.outcome == "rejected" else "the broker hangs up during the login"
            remedy = Remedy(
                (f"check {given.replace(' or ', ' and ')} for {evidence.mechanism}",),
                ("see that the user exists for this mechanism",),
            )
            yield error(probed, what, (f"the broker says: {sasl.detail}",), remedy=remedy)


@check("BN408")
def password_in_the_clear(evidence: Evidence) -> Iterator[CheckFinding]:
    """A password is sent unencrypted.

    Cause: The password is sent unencrypted to {subjects}.
    What: the client logs in with PLAIN and without TLS.
    Why: PLAIN sends the password as it is, so whoever sees the packets on the way can read it.
    Remedy: `SASL_SSL`, or a SCRAM mechanism, which sends no password.
    """
    sent = any(probed.probe.sasl is not None for probed in probed_endpoints(evidence))
    if sent and evidence.mechanism == "PLAIN" and evidence.security_protocol == "SASL_PLAINTEXT":
        fix = "use `security.protocol: SASL_SSL`, or SCRAM-SHA-512 for the login"
        message = "the password is sent unencrypted (PLAIN without TLS): whoever sees the packets can read it"
        yield info(f"cluster {evidence.cluster}", message, client=fix)


@check("BN406", Need.MAP)
def kerberos_host(evidence: Evidence) -> Iterator[CheckFinding]:
    """Kerberos is asked for an address.

    Cause: Kerberos knows brokers by name, and the address map is for addresses: {subjects}.
    What: the client logs in with Kerberos, and the address map has rules for brokers that are advertised as addresses.
    Why: without a map Java looks the address up backwards and asks for a ticket of that name. Behind the map the
    address itself is kept as the name, and there is no ticket for `kafka/192.168.1.23`.
    Remedy: let the brokers advertise names, which the map keeps for Kerberos as they are.
    """
    # The doctor does not log in with Kerberos, so what the brokers advertise is known by the map alone.
    if evidence.mechanism != "GSSAPI":
        return
    for rule in evidence.rules or ():
        host = str(parse_rule(rule).pattern.hosts).strip("[]").partition("/")[0]
        if address(host) is not None:
            fix = "advertise the nodes by their names, those in their Kerberos principals"
            message = f"clients will ask Kerberos for a ticket of an address, as `kafka/{host}`"
            yield warning(f"rule {rule}", message, broker=fix, confidence=Confidence.LIKELY)
