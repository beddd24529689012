"""What: the broker does not offer the client's mechanism, refuses user name and password, or hangs up during the login.
Why: another listener, a wrong password, an unknown user. The broker's own words are quoted; ours never hold a secret.
Remedy: a mechanism that is offered, or the right credentials.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Check, Confidence, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN404"


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        look, sasl = spot.look, spot.look.sasl
        hung_up = look.speaks == "kafka" and look.brokers is None and not look.slow
        if hung_up and sasl is None and look.tls_done and look.complete:
            remedy = Remedy(("give the client a login: `security.protocol`, `sasl.mechanism`, user name and password",))
            message = "it is Kafka and hangs up on a client that does not log in"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, remedy=remedy, confidence=Confidence.LIKELY)
        if sasl is None or sasl.outcome == "ok":
            continue
        if sasl.outcome == "not-tried":
            yield Finding(CODE, Severity.WARNING, spot.subject, sasl.detail)
        elif sasl.outcome == "mechanism-not-offered":
            offered = ", ".join(sasl.offered) or "none"
            remedy = Remedy((f"set `sasl.mechanism` to one that is offered: {offered}",))
            message = f"the mechanism {evidence.mechanism} is not offered"
            yield Finding(CODE, Severity.ERROR, spot.subject, message, (f"offered: {offered}",), remedy=remedy)
        else:
            given = "the token" if evidence.mechanism == "OAUTHBEARER" else "user name or password"
            refused = f"{given} {'is' if given == 'the token' else 'are'} refused"
            what = refused if sasl.outcome == "rejected" else "the broker hangs up during the login"
            remedy = Remedy(
                (f"check {given.replace(' or ', ' and ')} for {evidence.mechanism}",),
                ("see that the user exists for this mechanism",),
            )
            yield Finding(CODE, Severity.ERROR, spot.subject, what, (f"the broker says: {sasl.detail}",), remedy=remedy)


CHECK = Check(
    CODE,
    "The login fails",
    "The login fails at {subjects}{reason}.",
    _find,
)
