"""Simulated brokers that listen: each has a port of its own on 127.0.0.1, and all of them are one thread.

As a program (`python -m brokernat.testbed.simulated_serving COUNT`) it prints `ADVERTISED=REACHABLE` for each node, in
the order of node ids, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import struct
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from brokernat.address import Endpoint
from brokernat.testbed.simulated import Simulated

_HERE = "127.0.0.1"
_DEAD = "127.0.77"
_START_TIMEOUT = 30


@dataclass(frozen=True)
class Served:
    """A cluster that listens: where each node can be dialled. Each node has a port of its own on 127.0.0.1."""

    cluster: Simulated
    reachable: Mapping[int, Endpoint]


@contextmanager
def serving(count: int, dead: str | None = None, **options: Any) -> Iterator[Served]:
    """Brokers that listen, in a thread of their own, until the block ends.

    Args:
        count: how many; node ids begin with 1.
        dead: the first three numbers of the addresses that are advertised, `127.0.77` for one; what is dialled is
            advertised where there is none.
        options: of the cluster.
    """
    ready: Future[tuple[Served, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(count, dead, options, ready)))
    thread.start()
    served, loop, over = ready.result(_START_TIMEOUT)
    with ExitStack() as stack:
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, over.set)
        yield served


async def _serve(
    count: int,
    dead: str | None,
    options: Mapping[str, Any],
    ready: Future[tuple[Served, asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    clusters: list[Simulated] = []

    async def talk(node_id: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (length,) = struct.unpack(">i", await reader.readexactly(4))
                said = clusters[0].answer(node_id, await reader.readexactly(length))
                if said is None:
                    break
                writer.write(said)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    servers = {node_id: await asyncio.start_server(partial(talk, node_id), _HERE, 0) for node_id in range(1, count + 1)}
    reachable = {node_id: Endpoint(_HERE, each.sockets[0].getsockname()[1]) for node_id, each in servers.items()}
    advertised = {
        node_id: Endpoint(f"{dead}.{node_id}", end.port) if dead else end for node_id, end in reachable.items()
    }
    clusters.append(Simulated(advertised, **options))
    over = asyncio.Event()
    ready.set_result((Served(clusters[0], reachable), asyncio.get_running_loop(), over))
    await over.wait()
    for each in servers.values():
        each.close()


def main(arguments: list[str]) -> None:
    """Serve as many brokers as the command line says, behind addresses that are dead."""
    with serving(int(arguments[0]), dead=_DEAD) as served:
        for node_id, end in served.reachable.items():
            sys.stdout.write(f"{served.cluster.advertised[node_id]}={end}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
