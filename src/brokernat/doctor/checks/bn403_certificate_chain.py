"""What: the certificate is expired or not valid yet, no authority of the client's trust store signed it, or it was made
for something else. Which clients mind: a certificate that is in the trust store itself, a broker's own or an
authority's, goes on working in Java after its time is over, and librdkafka and Python refuse it then. They also want
the root there, where Java is content with an authority below it.
Why: it was not renewed, the trust store is another one, the broker leaves out a certificate between its own and the
authority's, or something in between ends TLS with a certificate of its own.
Remedy: renew it, add its authority to the trust store, or let the broker present the whole chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from brokernat.doctor.evidence import Evidence, Presented, TlsSeen
from brokernat.doctor.finding import Check, Finding, Remedy, Severity
from brokernat.doctor.reading import spots

CODE = "BN403"
_RENEW = ("renew the certificate",)
_SOME_MIND = {
    "expired": (
        "the time of a certificate that the trust store holds is over, or has not begun: Java's clients take it all "
        "the same, librdkafka and Python refuse it",
        Remedy(("take the new one into the trust store once it is renewed",), _RENEW),
    ),
    "untrusted": (
        "the trust store holds an authority below the root and not the root: Java's clients are content with that, "
        "librdkafka and Python before 3.13 are not",
        Remedy(("add the root that signed it to the trust store, where other clients than Java's use it",)),
    ),
}


def _find(evidence: Evidence) -> Iterator[Finding]:
    for spot in spots(evidence):
        tls = spot.look.tls
        if tls is None:
            continue
        for objection in tls.objections:
            if objection.outcome in _SOME_MIND:
                message, remedy = _SOME_MIND[objection.outcome]
                yield Finding(CODE, Severity.WARNING, spot.subject, message, (objection.detail,), remedy=remedy)
        if tls.outcome in _SAID:
            message, remedy = _SAID[tls.outcome](tls, evidence.taken_at)
            yield Finding(CODE, Severity.ERROR, spot.subject, message, _seen(tls), remedy=remedy)


def _seen(tls: TlsSeen) -> tuple[str, ...]:
    shown = (f"shown: `{each.subject}`, signed by `{each.issuer}`, {each.since} to {each.until}" for each in tls.chain)
    return (tls.detail, *shown)


def _expired(tls: TlsSeen, now: str) -> tuple[str, Remedy]:
    said, broker = "its time is over, or has not begun", _RENEW
    over = [(number, each, word) for number, each in enumerate(tls.chain) if (word := _out_of_time(each, now))]
    for number, each, word in over[:1]:
        said = f"the time of `{each.subject}`, which signed it, {word}" if number else f"its time {word}"
        broker = (f"let `{each.subject}` be renewed, and present the new one",) if number else _RENEW
    return said, Remedy(("see that the clock of this machine is right",), broker)


def _out_of_time(shown: Presented, now: str) -> str | None:
    """All times are texts of one form, in UTC, so their order is that of the texts."""
    if now > shown.until:
        return f"ended on {shown.until[:10]}"
    return f"begins on {shown.since[:10]}" if now < shown.since else None


def _untrusted(tls: TlsSeen, _: str) -> tuple[str, Remedy]:
    last = tls.chain[-1] if tls.chain else None
    if last is None or last.subject == last.issuer:
        return "no authority of the client's trust store signed it", Remedy(
            ("add the authority that signed it to the trust store, or the certificate itself",),
            ("let an authority sign it that clients trust",),
        )
    return f"`{last.issuer}` signed it, which the client does not trust and the broker does not present", Remedy(
        (f"add `{last.issuer}` to the trust store, if it is the cluster's authority",),
        (f"if an authority that clients trust signed `{last.issuer}`: put its certificate into the key store's chain",),
    )


def _unfit(tls: TlsSeen, _: str) -> tuple[str, Remedy]:
    return f"it does not do for a broker: {tls.detail}", Remedy(broker=("have one made for servers",))


_SAID: dict[str, Callable[[TlsSeen, str], tuple[str, Remedy]]] = {
    "expired": _expired,
    "untrusted": _untrusted,
    "unfit": _unfit,
}


CHECK = Check(
    CODE,
    "The certificate is not trusted, or is not valid now",
    "The client does not accept the certificate of {subjects}{reason}.",
    _find,
)
