"""The part of Kafka's protocol that a proxy must read: bytes in, bytes out, no I/O.

`api` is the table of allowed requests and versions. `rewriting` replaces the brokers' endpoints with the proxy's in
four responses, and remembers which versions a broker offers. `session` splits both directions of one connection into
frames and matches responses to requests. All other bytes pass unread.
"""

from brokernat.wire.fields import (
    DownstreamProtocolError,
    MessageError,
    OutdatedAnswerError,
    UpstreamProtocolError,
    WireError,
)
from brokernat.wire.rewriting import Offers, Translate
from brokernat.wire.session import Session

__all__ = [
    "DownstreamProtocolError",
    "MessageError",
    "Offers",
    "OutdatedAnswerError",
    "Session",
    "Translate",
    "UpstreamProtocolError",
    "WireError",
]
