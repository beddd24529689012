"""How much memory a crowd takes: `python -m bench.proxy.crowd` holds 10,000 idle connections and broken clients.

Each connection takes two descriptors of a worker, so `ulimit -n` ends the crowd first: 9,990 connections of a worker
where it is 20,000. So there are two workers, and the clients are in processes of their own. They have several
addresses, because one has some 28,000 ports.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import struct
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from bench.report import describe_machine, say, verdict
from tests.leaks.hostile import ALL_TOPICS, FETCH, PRODUCE, LargeAnswers, answered, fronted, request, serves
from tests.leaks.proxies import somewhere

from brokernat.address import Endpoint

_WORKERS, _SOURCES = 2, 4
_SLOW, _PIPELINED = 100, 20
_GIANT = (2**31 - 1, 101 << 20)
_KIB, _MIB = 1 << 10, 1 << 20
_held: list[socket.socket] = []


def main() -> int:
    """Measure, print; ends with 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.proxy.crowd", description=__doc__)
    parser.add_argument("--idle", type=int, default=10_000, help="connections; default %(default)s")
    idle = parser.parse_args().idle
    describe_machine("plain sockets")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        options = ("--workers", str(_WORKERS), "--max-connections", str(2 * idle))
        running, _ = stack.enter_context(fronted(LargeAnswers, Path(folder), somewhere(), *options))
        at = running.bootstrap
        clients = stack.enter_context(ProcessPoolExecutor(_SOURCES, multiprocessing.get_context("spawn")))
        assert serves(running)
        empty = running.processes.resident_in_all()
        # One call for each source, so that none holds more than a share.
        list(clients.map(_hold, [at] * _SOURCES, range(_SOURCES), [idle // _SOURCES] * _SOURCES))
        full = running.processes.resident_in_all()
        clients.submit(_misbehave, at).result()
        assert serves(running)
        slow = running.processes.resident_in_all()
    say(f"     resident in all processes, MiB: {empty / _MIB:.0f} at first, {full / _MIB:.0f} with {idle} connections")
    each = (full - empty) / idle / _KIB
    met = [
        verdict("an idle connection", f"{each:.1f} KiB", "<= 8 KiB", each <= 8),
        verdict(
            f"{_SLOW} clients that do not read, {_SLOW} that do not write, {_SLOW * len(_GIANT)} giant lengths",
            f"{(slow - full) / _MIB:.0f} MiB",
            "<= 64 MiB",
            slow - full <= 64 * _MIB,
        ),
    ]
    return 0 if all(met) else 1


def _hold(at: Endpoint, source: int, number: int) -> None:
    for _ in range(number):
        connection = _connected(at, source)
        assert answered(connection, ALL_TOPICS)
        _held.append(connection)


def _misbehave(at: Endpoint) -> None:
    for number in range(_SLOW):
        reader, writer = _connected(at, number), _connected(at, number)
        _held.extend((reader, writer))
        reader.sendall(b"".join(request(FETCH, 4, b"", each) for each in range(_PIPELINED)))
        writer.setblocking(False)
        with suppress(BlockingIOError):
            # Fifty megabytes are announced, and one is sent.
            writer.sendall(struct.pack(">ihhi", 50_000_000, PRODUCE, 7, 1) + b"\0\4test" + bytes(_MIB))
        for length in _GIANT:
            with _connected(at, number) as giant:
                assert answered(giant, struct.pack(">i", length)) == b""


def _connected(at: Endpoint, number: int) -> socket.socket:
    source = f"127.0.93.{1 + number % _SOURCES}"
    return socket.create_connection((at.host, at.port), 60, source_address=(source, 0))


if __name__ == "__main__":
    sys.exit(main())
