"""The interface for opening forwards; `ssh.py` and `commands.py` implement it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from brokernat.address import Endpoint
from brokernat.errors import NothingReachableError


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward from `local` on this machine to `target`, which the far end of the tunnel dials."""

    target: Endpoint
    local: Endpoint

    def __str__(self) -> str:
        return f"{self.target} at {self.local}"


class PortTakenError(Exception):
    """Another program listens at the forward's local port."""


class Forwarder(Protocol):
    """Opens forwards. The workspace ends all processes that a forwarder has started."""

    def __str__(self) -> str:
        """The command for messages: `ssh user@bastion`."""

    def open(self, forward: Forward, *, may_prompt: bool) -> None:
        """Open one forward, after the connection that it needs.

        Args:
            may_prompt: whether the program may prompt for a password or an unknown host key at the terminal.

        Raises:
            PortTakenError: the local port is in use.
            TunnelFailedError: any other failure.
            MissingToolError: the program is not installed.
        """

    def alive(self, forward: Forward) -> bool:
        """Whether the forward still accepts connections; never blocks."""

    def close(self, forward: Forward) -> None:
        """End the forward. Its local port is free again."""

    def renew(self, forward: Forward) -> None:
        """End a forward that still accepts connections but may have lost its target; the caller opens it again."""

    def connection_key(self, forward: Forward) -> object:
        """The key of the forward's connection: equal for all forwards that share one."""

    def reason(self, forward: Forward) -> str:
        """The last message of the program about the forward; empty if there is none."""


class TunnelFailedError(NothingReachableError):
    """A forward cannot be opened, or the wrong server answers behind it."""
