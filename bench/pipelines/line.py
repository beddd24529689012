"""A long line between two network namespaces, where the kernel has no netem: each IP packet is held back.

`line.py NS_A ADDRESS_A/30 NS_B ADDRESS_B/30 DELAY_MS` creates a TUN device `long0` in both and carries packets between
them, each after the delay (a round trip takes twice that). TCP meets a real round trip: windows, buffers and recovery
behave as on a long line. It runs until SIGTERM; the devices go with the process. Needs root.
"""

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI, _CLONE_NEWNET = 0x400454CA, 1, 0x1000, 0x40000000
_PACKETS = 64
"""Read at most before what is due is written."""


def open_tun(namespace: str, address: str) -> int:
    """The device, up in its namespace, as a file descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/self/ns/net").open() as home, Path("/run/netns", namespace).open() as away:
        if libc.setns(away.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"long0", _IFF_TUN | _IFF_NO_PI))
        libc.setns(home.fileno(), _CLONE_NEWNET)
    for words in (f"addr add {address} dev long0", "link set long0 mtu 1500 txqueuelen 10000 up"):
        subprocess.run(["ip", "-n", namespace, *words.split()], check=True)
    return device


def carry(left: int, right: int, delay: float) -> None:
    """Carry packets between two devices for ever, each after `delay` seconds."""
    opposite = {left: right, right: left}
    waiting: dict[int, deque[tuple[float, bytes]]] = {left: deque(), right: deque()}
    while True:
        due = [packets[0][0] for packets in waiting.values() if packets]
        patience = max(0.0, min(due) - time.monotonic()) if due else None
        for device in select.select([left, right], [], [], patience)[0]:
            arrived = time.monotonic()
            for _ in range(_PACKETS):
                try:
                    packet = os.read(device, 65536)
                except BlockingIOError:
                    break
                waiting[opposite[device]].append((arrived + delay, packet))
        for device, packets in waiting.items():
            while packets and packets[0][0] <= time.monotonic():
                try:
                    os.write(device, packets[0][1])
                except BlockingIOError:
                    break
                packets.popleft()


if __name__ == "__main__":
    one, one_address, other, other_address, milliseconds = sys.argv[1:]
    carry(open_tun(one, one_address), open_tun(other, other_address), float(milliseconds) / 1000)
