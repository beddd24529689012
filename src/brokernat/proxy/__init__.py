"""A small Kafka-aware proxy for clients that cannot load the map.

Inside a Python program `serve` runs it in a thread with its own event loop, for a `with` block.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.proxy import polling
from brokernat.proxy.server import Limits, Proxy, Settings

__all__ = ["Limits", "Proxy", "RunningProxy", "Settings", "serve"]

_Started = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]
"""The loop, and the event that ends the proxy; or the error of the start."""


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """A running proxy; can be used from any thread."""

    bootstrap: Endpoint
    """The bootstrap server for clients."""
    _proxy: Proxy
    _loop: asyncio.AbstractEventLoop

    def use(self, address_map: AddressMap | None) -> None:
        """Use another map, see `Proxy.use`."""
        self._loop.call_soon_threadsafe(self._proxy.use, address_map)


@contextmanager
def serve(cluster: Cluster, settings: Settings | None = None) -> Iterator[RunningProxy]:
    """Serve a cluster through its map until the block ends; the end waits for requests in flight.

    Raises:
        ConfigError: the port cannot be bound, or the cluster's configuration cannot be used.
        OSError: no event loop can be created, for example without file descriptors.
    """
    settings = settings or Settings()
    proxy = Proxy(cluster, settings)
    started: _Started = Future()
    thread = threading.Thread(target=_run, args=(proxy, started), name="brokernat-proxy", daemon=True)
    thread.start()
    loop, stop = started.result()
    try:
        yield RunningProxy(Endpoint(settings.advertise or settings.listen.host, settings.listen.port), proxy, loop)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def _run(proxy: Proxy, started: _Started) -> None:
    try:
        polling.run(_serve(proxy, started))
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)


async def _serve(proxy: Proxy, started: _Started) -> None:
    stop = asyncio.Event()
    try:
        proxy.start()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()
    finally:
        proxy.stop_listening()
        await proxy.drain()
