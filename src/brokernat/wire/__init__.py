"""Kafka's wire as far as a proxy must read it: bytes in, bytes out, no I/O.

Three ideas. `api` is the table of the requests and versions that pass. `rewriting` puts the proxy's endpoints into the
four responses that carry the brokers'. `session` cuts both directions of one connection into frames and remembers which
request each response answers. Everything else passes without being read.
"""

from brokernat.wire.errors import DownstreamProtocolError, MessageError, UpstreamProtocolError, WireError
from brokernat.wire.rewriting import Translate
from brokernat.wire.session import Session

__all__ = [
    "DownstreamProtocolError",
    "MessageError",
    "Session",
    "Translate",
    "UpstreamProtocolError",
    "WireError",
]
