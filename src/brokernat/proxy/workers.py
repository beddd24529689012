"""Runs the proxy in workers that share the ports, until a signal ends it.

The first SIGTERM or SIGINT drains the connections, a second one ends at once, and SIGHUP reloads the map. Workers are
in a process group of their own, so that they receive Ctrl-C once, from the parent. If the parent is killed, the end of
a pipe makes them drain.

SIGUSR2 restarts: the parent replaces its program and keeps its process id, so a supervisor sees no restart. The old
workers serve until the new ones listen, and then hand their connections over.

A draining worker closes no client connection before all other workers have stopped listening. Otherwise a client that
reconnects at once could enter the accept queue of a worker that is about to close it; the client would be reset and
back off.
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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from brokernat.address import AddressMap
from brokernat.errors import BrokernatError
from brokernat.proxy import polling
from brokernat.proxy.handover import Handover, inherited_receiver
from brokernat.proxy.metrics import INHERITED_SOCKET, Counters, serve_metrics
from brokernat.proxy.server import Proxy

_log = logging.getLogger("brokernat.proxy")

_STOP: Final = (signal.SIGTERM, signal.SIGINT)
_WATCHED: Final = frozenset({*_STOP, signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD})
_REPLACE_PAUSE: Final = 1.0
"""Seconds before a worker that has ended is replaced."""
_DRAIN_WAIT: Final = 5.0
"""Seconds to wait for workers that still listen: a hanging worker must not prevent the others from ending."""
_PREDECESSOR: Final = "BROKERNAT_PROXY_PREDECESSOR"
"""The variable with three descriptors (`_SharedDescriptors.for_next_program`) and the process ids of the workers of the
previous program; empty at the first start."""


@dataclass(frozen=True, slots=True)
class Service:
    """A proxy and its callbacks.

    `reload` is called in a thread and returns the new map; a BrokernatError is logged, and the old map stays. `ready`
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
        inherited = list(map(int, os.environ.pop(_PREDECESSOR, "").split()))
        with self.proxy.reserved(from_previous_program=bool(inherited)):
            shared = _SharedDescriptors(inherited[:3])
            return _Parent(self, workers, shared, set(inherited[3:])).run()

    def run_worker(self, number: int, ready: Callable[[], None], shared: _SharedDescriptors) -> int:
        """Run one worker; returns the same as `run`."""
        self.counters.row(number)
        return polling.run(self._serve(ready, shared, check=number == 0))

    async def _serve(self, ready: Callable[[], None], shared: _SharedDescriptors, *, check: bool) -> int:
        loop = asyncio.get_running_loop()
        stop: asyncio.Future[int] = loop.create_future()
        tasks: set[asyncio.Task[None]] = set()

        def end(number: int) -> None:
            if stop.done():
                self.proxy.end()
            else:
                stop.set_result(number)

        def parent_ended(pipe: int) -> None:
            loop.remove_reader(pipe)
            end(signal.SIGTERM)

        def keep(task: asyncio.Task[None]) -> None:
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        def reload() -> None:
            keep(loop.create_task(self._reload_map(reader)))

        self.proxy.start()
        with ThreadPoolExecutor(1) as reader:
            for number in (*_STOP, signal.SIGUSR2):
                loop.add_signal_handler(number, end, number)
            loop.add_signal_handler(signal.SIGHUP, reload)
            loop.add_reader(shared.alive, parent_ended, shared.alive)
            if shared.previous is not None:
                self.proxy.take_over(shared.previous)
            if self.metrics is not None:
                await serve_metrics(self.metrics, self.counters)
            # Blocked since before the fork: without a handler, SIGHUP would end the worker.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            ready()
            if check:
                keep(loop.create_task(self.proxy.check()))
            ended_by = await stop
            restarted = ended_by == signal.SIGUSR2
            if not restarted:
                _log.info("draining: requests in flight are answered; send the signal again to stop at once")
            self.proxy.stop_listening()
            await shared.wait_until_none_listens()
            await self.proxy.drain(shared.handover if restarted else None)
        return ended_by

    async def _reload_map(self, reader: Executor) -> None:
        # In a thread, because reading and checking a file takes time and connections must not wait for it.
        try:
            self.proxy.use(await asyncio.get_running_loop().run_in_executor(reader, self.reload))
        except BrokernatError as error:
            _log.error("the map is not changed: %s", error)


class _SharedDescriptors:
    """The file descriptors that a parent and its workers share.

    `alive` is a pipe that ends with the parent, one for all programs of a process: its old workers must not see an end.
    Connections of the previous program arrive at `previous`, and are sent to the next program through `handover`. Every
    process that may listen keeps another pipe open.

    Args:
        inherited: the three descriptors of the previous program, or none.
    """

    def __init__(self, inherited: Sequence[int]) -> None:
        for each in inherited:
            os.set_inheritable(each, False)
        self.previous = inherited_receiver(inherited[0]) if inherited else None
        self.handover = Handover()
        self.alive, self._parent = inherited[1:] or os.pipe()
        self._listeners_ended, self._listening = os.pipe()

    def use_in_worker(self) -> None:
        """Set this process up as a worker."""
        os.close(self._parent)

    def stop(self) -> None:
        """Mark this process as not listening."""
        os.close(self._listening)

    async def wait_until_none_listens(self) -> None:
        """Mark this worker as not listening, and wait until no other process listens."""
        self.stop()
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(self._listeners_ended, ended.set)
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _DRAIN_WAIT)
        loop.remove_reader(self._listeners_ended)

    def for_next_program(self) -> tuple[int, int, int]:
        """The descriptors that the next program inherits."""
        return self.handover.receiver, self.alive, self._parent


class _Parent:
    """Starts and replaces workers, forwards signals, and starts the next program."""

    def __init__(self, service: Service, workers: int, shared: _SharedDescriptors, predecessors: set[int]) -> None:
        self._service = service
        self._workers = workers
        self._numbers: dict[int, int] = {}
        self._shared = shared
        self._predecessors = predecessors

    def run(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            self._start_workers()
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
                    self._shared.stop()
                    _signal(self._numbers, received)
                else:
                    _signal(self._numbers, received)
            return ended_by
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)

    def _start_workers(self) -> None:
        # The objects made so far live until the end. Frozen, they are not visited by the garbage collector, which would
        # write to their memory pages and so copy them in every worker.
        gc.collect()
        gc.freeze()
        ready_reader, ready_writer = os.pipe()
        for number in range(self._workers):
            self._start(number, lambda: os.close(ready_writer))
        os.close(ready_writer)
        # Returns at the end of the pipe: when every worker has closed its writing end.
        os.read(ready_reader, 1)
        os.close(ready_reader)
        self._service.ready()

    def _start(self, number: int, ready: Callable[[], None]) -> None:
        pid = os.fork()
        if pid:
            self._numbers[pid] = number
            return
        code = 1
        try:
            os.setpgid(0, 0)
            self._shared.use_in_worker()
            code = 128 + self._service.run_worker(number, ready, self._shared)
        except BrokernatError as error:
            _log.error("worker %d: %s", number, error)
        except Exception:  # noqa: BLE001 - a worker must exit with a code and a log line
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
                time.sleep(_REPLACE_PAUSE)
                self._start(number, lambda: None)

    def _restart(self) -> None:
        """Restart this program in the same process, with the same arguments (execve). Returns only on failure."""
        try:
            # Checks the map first: an error in it would end the new program at its start, and nothing would serve.
            self._service.reload()
        except BrokernatError as error:
            _log.error("the proxy is not restarted: %s", error)
            return
        inherited = list(self._shared.for_next_program())
        environ = os.environ | {_PREDECESSOR: " ".join(map(str, (*inherited, *self._numbers)))}
        if self._service.metrics is not None:
            # Old workers may still use its port, so it could not be bound again.
            inherited.append(self._service.metrics.fileno())
            environ[INHERITED_SOCKET] = str(inherited[-1])
        try:
            for each in inherited:
                os.set_inheritable(each, True)
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environ)  # noqa: S606 - its own arguments
        except OSError as error:
            _log.error("the proxy is not restarted: `%s`: %s", sys.executable, error.strerror)
        for each in inherited:
            os.set_inheritable(each, False)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _allow_many_files() -> None:
    """Raise the limit of open files to the maximum, because each connection needs two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
