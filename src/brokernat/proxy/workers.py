"""Runs the proxy until a signal ends it: in this process, or in several that share the ports.

SIGTERM and SIGINT drain, a second one ends at once, SIGHUP takes a new map. Workers are in a process group of their
own, so that Ctrl-C reaches them once, from the parent; if the parent is killed, a pipe ends and they drain.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from brokernat.address import AddressMap
from brokernat.errors import BrokernatError
from brokernat.proxy.counters import Counters
from brokernat.proxy.metrics import serve_metrics
from brokernat.proxy.server import Proxy

_log = logging.getLogger("brokernat.proxy")

_STOP: Final = (signal.SIGTERM, signal.SIGINT)
_WATCHED: Final = frozenset({*_STOP, signal.SIGHUP, signal.SIGCHLD})
_PAUSE: Final = 1.0
"""Before a worker that has ended is replaced, in seconds."""


@dataclass(frozen=True, slots=True)
class Service:
    """A proxy and what it needs from the program around it.

    `reload` is called in a thread and returns the map anew; its BrokernatError is logged and changes nothing. `ready`
    is called once, when clients can connect. `metrics` is a listening socket, or None.
    """

    proxy: Proxy
    counters: Counters
    reload: Callable[[], AddressMap | None]
    ready: Callable[[], None]
    metrics: socket.socket | None = None

    def run(self, workers: int = 1) -> int:
        """Serve.

        Returns:
            The number of the signal that ended it.

        Raises:
            ConfigError: the port cannot be bound.
        """
        _allow_many_files()
        if workers == 1:
            return asyncio.run(self._serve(self.ready))
        with self.proxy.reserved():
            return _Parent(self, workers).run()

    def work(self, number: int, ready: Callable[[], None], parent: int) -> int:
        """One worker of several; `parent` is a pipe that ends with the parent. Returns as `run`."""

        def begin() -> None:
            # Blocked since before the fork: without a handler, SIGHUP would end the worker.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            ready()

        self.counters.row(number)
        return asyncio.run(self._serve(begin, parent))

    async def _serve(self, ready: Callable[[], None], parent: int | None = None) -> int:
        loop = asyncio.get_running_loop()
        stop: asyncio.Future[int] = loop.create_future()
        reloads: set[asyncio.Task[None]] = set()

        def end(number: int) -> None:
            if stop.done():
                self.proxy.end()
            else:
                stop.set_result(number)

        def gone(pipe: int) -> None:
            loop.remove_reader(pipe)
            end(signal.SIGTERM)

        def reload() -> None:
            reloads.add(task := loop.create_task(self._take_new_map(reader)))
            task.add_done_callback(reloads.discard)

        self.proxy.start()
        with ThreadPoolExecutor(1) as reader:
            for number in _STOP:
                loop.add_signal_handler(number, end, number)
            loop.add_signal_handler(signal.SIGHUP, reload)
            if parent is not None:
                loop.add_reader(parent, gone, parent)
            if self.metrics is not None:
                await serve_metrics(self.metrics, self.counters)
            ready()
            ended_by = await stop
            _log.info("draining: requests in flight are answered; once more to end at once")
            await self.proxy.drain()
        return ended_by

    async def _take_new_map(self, reader: Executor) -> None:
        # A file takes a while to read and check, and the connections shall not wait for it.
        try:
            self.proxy.use(await asyncio.get_running_loop().run_in_executor(reader, self.reload))
        except BrokernatError as error:
            _log.error("the map stays as it is: %s", error)


class _Parent:
    """Starts workers, replaces one that has ended, and passes signals on."""

    def __init__(self, service: Service, workers: int) -> None:
        self._service = service
        self._workers = workers
        self._numbers: dict[int, int] = {}
        self._alive, self._parent = os.pipe()

    def run(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            self._start_all()
            ended_by = 0
            while self._numbers:
                received = int(signal.sigwait(_WATCHED))
                if received == signal.SIGCHLD:
                    self._reap(replace=not ended_by)
                    continue
                if received in _STOP:
                    ended_by = received
                for pid in self._numbers:
                    with suppress(ProcessLookupError):
                        os.kill(pid, received)
            return ended_by
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)

    def _start_all(self) -> None:
        came, said = os.pipe()
        for number in range(self._workers):
            self._start(number, lambda: os.close(said))
        os.close(said)
        # It ends when every worker has closed its end.
        os.read(came, 1)
        os.close(came)
        self._service.ready()

    def _start(self, number: int, ready: Callable[[], None]) -> None:
        pid = os.fork()
        if pid:
            self._numbers[pid] = number
            return
        code = 1
        try:
            os.setpgid(0, 0)
            os.close(self._parent)
            code = 128 + self._service.work(number, ready, self._alive)
        except BrokernatError as error:
            _log.error("worker %d: %s", number, error)
        except Exception:  # noqa: BLE001 - the last resort of a process
            _log.exception("worker %d", number)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _reap(self, *, replace: bool) -> None:
        while self._numbers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            number = self._numbers.pop(pid)
            if replace:
                _log.error(
                    "worker %d has ended with %d, another one takes its place",
                    number,
                    os.waitstatus_to_exitcode(status),
                )
                time.sleep(_PAUSE)
                self._start(number, lambda: None)


def _allow_many_files() -> None:
    """As many as this user may have: each connection takes two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
