"""Which worker gets the next clients of a port.

Left alone, the kernel spreads them by a hash of the addresses (SO_REUSEPORT). Clients that come one after the other
then wake two processes on two cores by turns, and often find no connection to a broker that is kept for them. So one
worker at a time has the turn of a port and gets every client of it, and passes the turn on as soon as it has more
connections than another worker. Clients that stay are spread more evenly than by a hash; clients that come and go meet
a worker that is awake (docs/reference/performance.md).

The turn is a filter of one instruction for all sockets of a port, the index of the socket that is chosen
(`SO_ATTACH_REUSEPORT_CBPF`, Linux 4.5). A worker does not know which index is its own: it passes the turn to the next
index, and again if it gets another client. Where the kernel has no such filter, or for an index that no worker has, it
spreads clients by the hash.
"""

from __future__ import annotations

import ctypes
import mmap
import socket
import struct
import time
from array import array
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from brokernat.proxy import polling
from brokernat.proxy.metrics import Counters

_SO_ATTACH_REUSEPORT_CBPF: Final = 51
"""asm-generic/socket.h; the module `socket` does not have it."""
_RETURN_CONSTANT: Final = 0x06
"""BPF_RET | BPF_K, linux/bpf_common.h."""
_NO_INDEX: Final = 0xFFFFFFFF
_PORTS: Final = 256
"""The number of turns that are counted. More nodes share them; then a turn may move one client later."""
_SILENT: Final = 3.0
"""Seconds without a sign of life after which a worker is taken for hanging."""


class Turns:
    """The turns of all ports. Created before the workers are forked, and used in each with its own listeners."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._indexes = mmap.mmap(-1, _PORTS)
        self._signs_of_life = memoryview(mmap.mmap(-1, 8 * counters.workers)).cast("d")
        self._signs_of_life[:] = array("d", [time.monotonic()] * counters.workers)
        self._one_hangs = False
        self._accepted: dict[int, socket.socket] = {}
        """By node: the listeners that have accepted clients since this worker last compared its connections."""
        self._one_came = False

    def join(self, node_id: int, listener: socket.socket) -> None:
        """Add a listener to its port; call it after `listen`."""
        _choose(listener, self._indexes[node_id % _PORTS])

    def accepted(self, node_id: int, listener: socket.socket) -> None:
        """A listener of this worker has accepted a client."""
        if self._counters.workers == 1:
            return
        if not self._accepted:
            polling.running().when_idle(self._compare)
        self._accepted[node_id] = listener
        self._one_came = True

    def _compare(self) -> None:
        # Later than `accepted`, because connections that have ended may still be counted then.
        more = self._counters.own("connections") - self._counters.least("connections")
        if more == 1 and self._one_came:
            # The newest client may be one that goes soon.
            self._one_came = False
            polling.running().when_idle(self._compare)
            return
        if more > 0:
            for node_id, listener in self._accepted.items():
                self.pass_on(node_id, listener)
        self._accepted.clear()

    def pass_on(self, node_id: int, listener: socket.socket) -> None:
        """Give the turn to the next worker."""
        index = (self._indexes[node_id % _PORTS] + 1) % self._counters.workers
        self._indexes[node_id % _PORTS] = index
        _choose(listener, index)

    def watch(self, now: float, listeners: Mapping[int, socket.socket]) -> None:
        """Call it once a second: while a worker hangs, nobody has the turn. `now` is the system's monotonic time."""
        self._signs_of_life[self._counters.worker] = now
        one_hung, self._one_hangs = self._one_hangs, now - min(self._signs_of_life) > _SILENT
        if self._one_hangs:
            for listener in listeners.values():
                _choose(listener, _NO_INDEX)
        elif one_hung:
            for node_id, listener in listeners.items():
                self.join(node_id, listener)


def _choose(listener: socket.socket, index: int) -> None:
    """Let the kernel choose the socket with this index for the next clients of the port."""
    program = ctypes.create_string_buffer(struct.pack("=HBBI", _RETURN_CONSTANT, 0, 0, index))
    # Not on every system, or the listener has been closed: the kernel spreads by the hash.
    with suppress(OSError):
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_REUSEPORT_CBPF, struct.pack("@HP", 1, ctypes.addressof(program))
        )
