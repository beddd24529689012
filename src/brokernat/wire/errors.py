"""What can be wrong with bytes, by the side that sent them::

WireError
├── DownstreamProtocolError   the client sent it
├── UpstreamProtocolError     the broker sent it
└── MessageError              a message ends too early or has lengths that cannot be; a session names its side
"""

from __future__ import annotations


class WireError(Exception):
    """The connection cannot go on; the text is for the log and holds nothing that a client sent as data."""


class DownstreamProtocolError(WireError):
    """A client sent what does not pass."""


class UpstreamProtocolError(WireError):
    """A broker sent what cannot be an answer."""


class MessageError(WireError):
    """A message cannot be read; `short` if more bytes may mend it."""

    def __init__(self, text: str, *, short: bool = False) -> None:
        super().__init__(text)
        self.short = short
