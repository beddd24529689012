"""Runs the proxy in workers that share the ports, until a signal ends it.

SIGTERM and SIGINT drain, a second one ends at once, SIGHUP reloads the map. Workers are in a process group of their
own, so that Ctrl-C reaches them once, from the parent; if the parent is killed, a pipe ends and they drain.

SIGUSR2 restarts: the parent replaces its program and keeps its process id, so a supervisor sees no restart. Its workers
serve until those of the new program listen, and then hand their connections over.

A worker closes no connection of a client before all its siblings have stopped listening: a client that connects again
at once would else wait in the queue of a sibling that is about to close it, be reset, and back off.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from brokernat.address import AddressMap
from brokernat.errors import BrokernatError
from brokernat.proxy import polling
from brokernat.proxy.handover import Handover, kept_end
from brokernat.proxy.metrics import Counters, keep_metrics, serve_metrics
from brokernat.proxy.server import Proxy

_log = logging.getLogger("brokernat.proxy")

_STOP: Final = (signal.SIGTERM, signal.SIGINT)
_WATCHED: Final = frozenset({*_STOP, signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD})
_PAUSE: Final = 1.0
"""Before a worker that has ended is replaced, in seconds."""
_PATIENCE: Final = 5.0
"""For workers that do not stop listening, in seconds: one that hangs must not keep the others from ending."""
_PREDECESSOR: Final = "BROKERNAT_PROXY_PREDECESSOR"
"""Of the program whose place this one has taken: where its connections come from, and the process ids of its workers;
empty at the first start."""


@dataclass(frozen=True, slots=True)
class Service:
    """A proxy and its callbacks.

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
        kept, *predecessors = os.environ.pop(_PREDECESSOR, "").split() or [""]
        with self.proxy.reserved(taken_over=bool(kept)):
            family = _Family(kept_end(kept) if kept else None)
            return _Parent(self, workers, family, set(map(int, predecessors))).run()

    def work(self, number: int, ready: Callable[[], None], family: _Family) -> int:
        """One worker. Returns as `run`."""
        self.counters.row(number)
        return polling.run(self._serve(ready, family))

    async def _serve(self, ready: Callable[[], None], family: _Family) -> int:
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
            reloads.add(task := loop.create_task(self._reload_map(reader)))
            task.add_done_callback(reloads.discard)

        self.proxy.start()
        with ThreadPoolExecutor(1) as reader:
            for number in (*_STOP, signal.SIGUSR2):
                loop.add_signal_handler(number, end, number)
            loop.add_signal_handler(signal.SIGHUP, reload)
            loop.add_reader(family.alive, gone, family.alive)
            if family.before is not None:
                self.proxy.take_over(family.before)
            if self.metrics is not None:
                await serve_metrics(self.metrics, self.counters)
            # Blocked since before the fork: without a handler, SIGHUP would end the worker.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            ready()
            ended_by = await stop
            restarted = ended_by == signal.SIGUSR2
            if not restarted:
                _log.info("draining: requests in flight are answered; send the signal again to stop at once")
            self.proxy.stop_listening()
            await family.stopped_listening()
            await self.proxy.drain(family.handover if restarted else None)
        return ended_by

    async def _reload_map(self, reader: Executor) -> None:
        # A file takes a while to read and check, and the connections shall not wait for it.
        try:
            self.proxy.use(await asyncio.get_running_loop().run_in_executor(reader, self.reload))
        except BrokernatError as error:
            _log.error("the map is not changed: %s", error)


class _Family:
    """The file descriptors that a parent and its workers share.

    `alive` is a pipe that ends with the parent. `before` is where connections of the program before come from, and
    `handover` where they go to the next one. Another pipe is kept open by each that may listen.
    """

    def __init__(self, before: socket.socket | None) -> None:
        self.before = before
        self.handover = Handover()
        self.alive, self._parent = os.pipe()
        self._ended, self._listening = os.pipe()

    def join(self) -> None:
        """Set this process up as a worker."""
        os.close(self._parent)

    def stop(self) -> None:
        """Mark this process as not listening."""
        os.close(self._listening)

    async def stopped_listening(self) -> None:
        """This worker does not listen any more; returns when no other does."""
        self.stop()
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._ended, ended.set)
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _PATIENCE)
        loop.remove_reader(self._ended)

    def keep_for_next_program(self) -> str:
        """Keep the descriptors that workers need open for the next program; returns the argument for its `kept_end`."""
        os.set_inheritable(self._parent, True)
        return self.handover.keep()


class _Parent:
    """Starts and replaces workers, forwards signals, and starts the next program."""

    def __init__(self, service: Service, workers: int, family: _Family, predecessors: set[int]) -> None:
        self._service = service
        self._workers = workers
        self._numbers: dict[int, int] = {}
        self._family = family
        self._predecessors = predecessors

    def run(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            self._start_all()
            _signal(self._predecessors, signal.SIGUSR2)
            ended_by = 0
            while self._numbers or self._predecessors:
                received = int(signal.sigwait(_WATCHED))
                if received == signal.SIGCHLD:
                    self._reap(replace=not ended_by)
                elif received == signal.SIGUSR2:
                    self._restart()
                elif received in _STOP and not ended_by:
                    ended_by = received
                    self._family.stop()
                    _signal(self._numbers, received)
                else:
                    _signal(self._numbers, received)
            return ended_by
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)

    def _start_all(self) -> None:
        # What the start has made stays until the end: no collection need walk it, and no worker copies it.
        gc.collect()
        gc.freeze()
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
            self._family.join()
            code = 128 + self._service.work(number, ready, self._family)
        except BrokernatError as error:
            _log.error("worker %d: %s", number, error)
        except Exception:  # noqa: BLE001 - the last resort of a process
            _log.exception("worker %d", number)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _reap(self, *, replace: bool) -> None:
        while self._numbers or self._predecessors:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._predecessors.discard(pid)
            number = self._numbers.pop(pid, None)
            if replace and number is not None:
                _log.error(
                    "worker %d exited with %d and is replaced",
                    number,
                    os.waitstatus_to_exitcode(status),
                )
                time.sleep(_PAUSE)
                self._start(number, lambda: None)

    def _restart(self) -> None:
        """Replace this program by itself with the same arguments (execve). Returns only on failure."""
        try:
            # What would end the new program at its start: nobody would serve then.
            self._service.reload()
        except BrokernatError as error:
            _log.error("the proxy is not restarted: %s", error)
            return
        os.environ[_PREDECESSOR] = " ".join((self._family.keep_for_next_program(), *map(str, self._numbers)))
        if self._service.metrics is not None:
            keep_metrics(self._service.metrics)
        try:
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - its own arguments
        except OSError as error:
            _log.error("the proxy is not restarted: `%s`: %s", sys.executable, error.strerror)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _allow_many_files() -> None:
    """Raise the limit of open files to the maximum: each connection needs two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
