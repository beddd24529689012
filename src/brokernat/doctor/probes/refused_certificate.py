"""What is behind a certificate that OpenSSL refuses: whether Java takes it all the same, and what was presented.

OpenSSL asks for the time of every certificate, the trusted one too. Java asks nothing of what is in its trust store: a
chain ends at the first certificate that is there (`sun.security.validator.PKIXValidator`), and an anchor is no part of
a path (RFC 5280, 6.1). So where the broker's own certificate is trusted, or an authority's, Java goes on when its time
is over, and librdkafka and Python do not. Each question is a handshake of its own, because OpenSSL ends a refused one.
"""

from __future__ import annotations

import ssl
import time

from brokernat.doctor.client_side import ClientSide
from brokernat.doctor.evidence import Objection, Presented, TlsSeen
from brokernat.doctor.probes.chain import Info, chain, presented
from brokernat.doctor.probes.dialling import Streams, connect, start_tls
from brokernat.doctor.probes.tls import accepted


async def shake_hands_undated(streams: Streams, client: ClientSide, name: str, patience: float) -> TlsSeen | None:
    """A handshake that asks for times as Java does; None where Java refuses the chain too.

    What comes with `ok` is a connection to go on with.
    """
    assert client.tls is not None  # noqa: S101
    try:
        await start_tls(streams, client.tls.undated, name, patience)
    except OSError:
        return None
    *path, anchor = chain(streams, verified=True)
    if not all(map(_valid_now, path)):
        return None
    seen = accepted(streams, client, name)
    about = presented(anchor)
    expired = Objection(("librdkafka", "python"), "expired", f"`{about.subject}`: {about.since} to {about.until}")
    return TlsSeen(seen.outcome, seen.names, objections=(expired, *seen.objections))


async def presented_chain(address: str, port: int, name: str, patience: float) -> tuple[Presented, ...]:
    """What a broker shows to a client that refuses nothing; empty where that fails too."""
    _, streams = await connect(address, port, patience)
    if streams is None:
        return ()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        await start_tls(streams, context, name, patience)
        return tuple(map(presented, chain(streams, verified=False)))
    except OSError:
        return ()
    finally:
        streams[1].transport.abort()


def _valid_now(certificate: Info) -> bool:
    begins, ends = (ssl.cert_time_to_seconds(certificate[part]) for part in ("notBefore", "notAfter"))
    return begins <= time.time() <= ends
