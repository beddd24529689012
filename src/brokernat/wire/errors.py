"""Protocol errors, by the side that sent the bytes::

WireError
├── DownstreamProtocolError   the client sent it
├── UpstreamProtocolError     the broker sent it
└── MessageError              a message is truncated or has an impossible length; a session adds the side
"""

from __future__ import annotations


class WireError(Exception):
    """The connection must be closed; the text is for the log and contains no data of a client."""


class DownstreamProtocolError(WireError):
    """A client sent an invalid or refused request."""


class UpstreamProtocolError(WireError):
    """A broker sent an invalid response."""


class MessageError(WireError):
    """A message cannot be parsed; `short` if more bytes may complete it."""

    def __init__(self, text: str, *, short: bool = False) -> None:
        super().__init__(text)
        self.short = short
