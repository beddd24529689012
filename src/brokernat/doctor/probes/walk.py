"""Probes one endpoint as a client connects: all stages in order, from the name to large answers, with retries.

A stage is tried only if the one before it worked. It is tried up to three times if it may have failed by chance: a
closed, reset, silent or cut connection. An explicit answer (a certificate, a rejected login, another protocol) is not
retried. Each try uses one new connection for all its stages. A node has one connection at a time, because brokers may
allow few (`max.connections.per.ip`).

Nothing here raises: the report needs probes that fail half-way. The time left at its start limits a probe, so endpoints
that drop packets never exceed `--timeout`; stages that are not reached are unknown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from statistics import median
from typing import Any, get_args

from brokernat.address import Endpoint
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    ClusterMetadata,
    Connection,
    EndpointProbe,
    Identity,
    Login,
    NameLookup,
    SizeTest,
    Stage,
    TlsHandshake,
    Tries,
)
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.identity import Leadership, identify, identify_again, sampled, samples, settled
from brokernat.doctor.probes.metadata import advertised
from brokernat.doctor.probes.network import TRIES, Outcome, Streams, close, connect, resolve
from brokernat.doctor.probes.sasl import enabled_mechanisms, log_in
from brokernat.doctor.probes.size import measure
from brokernat.doctor.probes.tls import about_client_certificate, client_refused, sends_alert, shake_hands
from brokernat.doctor.probes.versions import explained, greet, greet_plainly

Log = dict[Stage, list[tuple[float, str]]]
"""The seconds and the outcome of each try of a stage."""

STAGES: tuple[Stage, ...] = get_args(Stage)
_BY_CHANCE = ("no-answer", "silent", "closed", "reset", "cut", "stalled", "timeout", "refused", "unreachable", "mixed")
_FLAKY, _FLAKY_TRIES = ("closed", "reset"), 8
"""If other connections were closed by chance and later worked, three tries are not enough."""
_PAUSE = 0.1
_USUAL = 5.0
"""The patience of a run of up to half a minute, in seconds."""
_PATIENCE = (1.0, 0.5, 1.0)
"""The share of the patience for the first, second and third try of a peer that does not answer, or not to the end."""
_LONGEST = 2.0
"""The share for the last try, as far as there is time: it tells a slow peer from a silent one."""
_AT_LEAST, _LATENCIES = 3.0, 5
"""The least seconds for a large message, and the factor on the time of small ones."""
_SLOWER = 2.0
"""The factor on the longest answer so far, which a slow peer may take for the next one."""
_RESOLVING = 1.6
"""Factor on the patience: the Linux resolver tries its second name server after five seconds."""
_AT_ONCE = 1.0
_AGREEING = 2
_WORDLESS = ("not-tls", "closed", "reset", "silent")
_FEW_NODES = 50
"""Up to this many nodes the cluster's id is requested on each connection."""
_RESERVE = 0.05
_WITHHELD = "no login was sent there, where whoever answers could read it: allow it with `--send-login`"


def patience_of(timeout: float) -> float:
    """The `patience` of a prober, in seconds, for a run with this `timeout`."""
    return min(timeout / 4, max(_USUAL, timeout / 6))


@dataclass
class Shared:
    """State that all probes of a run share. `flaky`: some stage failed by chance and then worked."""

    leadership: Leadership = field(default_factory=Leadership)
    turns: dict[object, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    brokers: dict[tuple[Advertised, ...], tuple[Advertised, ...]] = field(default_factory=dict)
    flaky: bool = False


@dataclass
class Prober:
    """Probes endpoints with one client's configuration.

    `patience` limits each answer, in seconds, and `dialling` each connection if it is less; `deadline` (of the loop's
    clock) limits all of them. `connections` is the number of later connections that test each address for a balancer,
    None for the number that the brokers need. They use the local addresses that `sources` returns, in turn.
    """

    client: ClientSide
    patience: float
    deadline: float
    parallel: asyncio.Semaphore
    shared: Shared = field(default_factory=Shared)
    dialling: float | None = None
    connections: int | None = None
    sources: Callable[[str], Sequence[str]] = lambda _: ()

    async def probe(
        self,
        endpoint: Endpoint,
        name: str | None = None,
        expected: int | None = None,
        *,
        until: Stage = "size",
        canonical: bool = False,
    ) -> EndpointProbe:
        """The probe of an endpoint.

        Args:
            name: the host for TLS and SASL; default: the endpoint's host.
            expected: the node that should answer, tried first.
            until: the last stage.
            canonical: whether to look up the canonical names of its addresses.
        """
        walk = Walk(self, endpoint, name or endpoint.host, expected, canonical=canonical)
        async with self.parallel, self.turn(endpoint, expected):
            return await walk.in_time(until)

    async def sample(self, probe: EndpointProbe) -> EndpointProbe:
        """The probe of a proven node, with the identity of new further connections."""
        if probe.identity is None:
            return probe
        async with self.parallel, self.turn(Endpoint.parse(probe.endpoint), None):
            return replace(probe, identity=await self.met_again(probe, probe.identity))

    async def touch(self, endpoint: Endpoint, tries: int = 1) -> EndpointProbe:
        """Probes only name and connection."""
        async with self.parallel:
            return await Walk(self, endpoint, endpoint.host, tries=tries).in_time("connect")

    @asynccontextmanager
    async def turn(self, endpoint: Endpoint, node_id: int | None) -> AsyncIterator[None]:
        """Waits until no other probe uses the endpoint, or the node that is expected there."""
        node = nullcontext() if node_id is None else self.shared.turns[node_id]
        async with self.shared.turns[endpoint], node:
            yield

    @asynccontextmanager
    async def channel(
        self, probe: EndpointProbe, address: str | None = None, source: str | None = None, log: Log | None = None
    ) -> AsyncIterator[tuple[Channel | None, TlsHandshake | None]]:
        """Another logged-in connection to a probed endpoint, and its handshake; None if it fails three times.

        It uses this `address` of the name, from the local address `source`. Its tries are added to `log`.
        """
        walk = Walk(self, Endpoint.parse(probe.endpoint), probe.name, address=address, source=source)
        if probe.resolve is not None and probe.resolve.ok:
            walk.found["resolve"] = probe.resolve
        try:
            yield await walk.open(), walk.found.get("tls")
        finally:
            walk.close()
            if log is not None:
                for stage, tries in walk.log.items():
                    log[stage] += tries

    async def met_again(
        self, here: EndpointProbe, first: Identity, expected: int | None = None, log: Log | None = None
    ) -> Identity:
        """The first identity of a probed endpoint, compared with the nodes of later connections."""
        assert here.metadata is not None  # noqa: S101
        metadata = here.metadata
        wanted = samples(len(metadata.brokers)) if self.connections is None else self.connections * len(here.accepting)
        clusters: dict[str, list[str | None]] = {here.accepting[0]: [metadata.cluster_id]}

        async def cluster_of(channel: Channel, address: str) -> str | None:
            """Requested on each connection, as a balancer may be there; at large clusters once for each address."""
            known = clusters.setdefault(address, [])
            if not known or expected is None or len(metadata.brokers) <= _FEW_NODES:
                known.append((await advertised(channel, self.shared.brokers)).cluster_id)
            return known[-1]

        async def meet(address: str, number: int) -> int | None:
            sources = self.sources(address)
            source = sources[number % len(sources)] if sources else None
            try:
                async with self.channel(here, address, source, log) as (channel, tls):
                    if channel is None or await cluster_of(channel, address) not in (None, metadata.cluster_id):
                        return None
                    return await identify_again(channel, metadata, first, tls, self.shared.leadership)
            except ChannelError:
                return None

        found = await sampled(first, here.accepting, wanted, meet, self.deadline - _RESERVE)
        seen = dict.fromkeys((address, name) for address, names in clusters.items() for name in names if name)
        return replace(found, strangers=tuple(each for each in seen if each[1] != metadata.cluster_id))


@dataclass
class Walk:
    """A running probe of one endpoint. `found` are the results so far, `log` has seconds and outcome of each try."""

    prober: Prober
    endpoint: Endpoint
    name: str
    expected: int | None = None
    _: KW_ONLY
    canonical: bool = False
    address: str | None = None
    source: str | None = None
    tries: int = TRIES
    found: dict[Stage, Any] = field(default_factory=dict)
    log: Log = field(default_factory=lambda: defaultdict(list))
    _spent: dict[Stage, float] = field(default_factory=dict)
    _streams: Streams | None = None
    _channel: Channel | None = None
    _greeting: ApiVersions | None = None
    _first: Identity | None = None

    def __post_init__(self) -> None:
        self.client, self.shared = self.prober.client, self.prober.shared

    async def in_time(self, until: Stage) -> EndpointProbe:
        """The result, as far as the time allows."""
        complete = True
        try:
            async with asyncio.timeout_at(self.prober.deadline):
                await self.go(until)
        except TimeoutError:
            failed = self.result().failed
            # One timeout may be chance; after two the peer had enough time.
            complete = failed is not None and len(self._faults(failed)) >= _AGREEING
        return self.result(complete=complete)

    def result(self, *, complete: bool = True) -> EndpointProbe:
        tries = tuple(_counted(stage, self.log[stage]) for stage in STAGES if self.log.get(stage))
        return EndpointProbe(str(self.endpoint), self.name, **self.found, tries=tries, complete=complete)

    async def go(self, until: Stage) -> None:
        """Runs the stages, and again from the connection on if one may have failed by chance."""
        try:
            stages = STAGES[: STAGES.index(until) + 1]
            failed = await self._repeated(stages, patient=until != "size")
            self.close()
            if failed == "identity" and until == "size" and await self._stage("size"):
                # Its answer is large. Clients do not need this stage, so it is tried again only after the size test.
                await self._repeated(stages[:-1])
            self.close()
            if self._first is not None and self._first.node_id is not None:
                self.found["identity"] = await self.prober.met_again(
                    self.result(), self._first, self.expected, self.log
                )
        finally:
            self.close()

    async def open(self) -> Channel | None:
        """A logged-in connection."""
        failed = await self._repeated(STAGES[: STAGES.index("sasl") + 1])
        return self._channel if failed is None else None

    def close(self) -> None:
        close(self._streams)
        self._streams = self._channel = self._greeting = None

    async def _repeated(self, stages: Sequence[Stage], *, patient: bool = True) -> Stage | None:
        """Runs the stages, again if one may have failed by chance; returns the one that finally failed, or None.

        A silent identity stage is tried again only if `patient`.
        """
        while (failed := await self._once(stages)) is not None and self._may_try_again(failed):
            if failed == "identity" and not patient and self._faults(failed)[-1] in ("silent", "stalled"):
                break
            self.close()
            await asyncio.sleep(_PAUSE * len(self._faults(failed)))
        return failed

    async def _once(self, stages: Sequence[Stage]) -> Stage | None:
        """Runs the stages on one connection; returns the one that failed, None if all worked."""
        for stage in stages:
            settled = stage in ("resolve", "metadata", "identity") and stage in self.found and self.found[stage].ok
            wanted = {"tls": self.client.tls is not None, "sasl": self.client.sasl}.get(stage, not settled)
            if wanted and not await self._stage(stage):
                return stage
        return None

    async def _stage(self, stage: Stage) -> bool:
        """One try of a stage. Its result is kept unless an earlier try worked; of handshakes the last good one is."""
        clock = asyncio.get_running_loop()
        begun = clock.time()
        result = await getattr(self, f"_{stage}")()
        if stage != "connect":
            spent = self._spent.pop(stage, clock.time() - begun)
            if stage == "tls":
                # The first request is sent at the end of the handshake, and its answer is another stage.
                spent -= self._spent.get("versions", 0.0)
            self.log[stage].append((spent, "ok" if result.ok else result.outcome))
        # The certificate of an earlier connection says nothing about the node behind this one.
        if stage not in self.found or not self.found[stage].ok or (stage == "tls" and result.ok):
            self.found[stage] = result
        faults = self._faults(stage)
        if result.ok and any(fault in _FLAKY for fault in faults):
            self.shared.flaky = True
        return bool(result.ok)

    def _faults(self, stage: Stage) -> list[str]:
        return [outcome for _, outcome in self.log[stage] if outcome != "ok"]

    def _may_try_again(self, stage: Stage) -> bool:
        faults = self._faults(stage)
        if stage in ("connect", "size") or not faults or faults[-1] not in _BY_CHANCE:
            return False
        if stage == "resolve" and self.log[stage][-1][0] > _AT_ONCE:
            # The resolver itself retries.
            return False
        more = self.shared.flaky and faults[-1] in _FLAKY and self.tries > 1
        return len(faults) < (_FLAKY_TRIES if more else self.tries)

    async def _resolve(self) -> NameLookup:
        patience = _RESOLVING * self.prober.patience
        return await resolve(self.endpoint.host, self.endpoint.port, patience, canonical=self.canonical)

    async def _connect(self) -> Connection:
        """Connects to all addresses first, on later tries only to the address that accepted before."""
        port, patience = self.endpoint.port, self.prober.dialling or self.prober.patience
        addresses = self.found["resolve"].addresses if self.address is None else (self.address,)
        clock = asyncio.get_running_loop()

        async def timed(address: str) -> tuple[Attempt, Streams | None, list[tuple[float, str]]]:
            begun, faults = clock.time(), list[Outcome]()
            attempt, streams = await connect(
                address, port, patience, tries=self.tries, source=self.source, faults=faults
            )
            seconds = clock.time() - begun
            return attempt, streams, [(seconds, each) for each in (*faults, *(() if streams is None else ("ok",)))]

        tried = await asyncio.gather(*map(timed, addresses))
        for attempt, streams, outcomes in tried:
            self.log["connect"] += outcomes
            if streams is not None and self._streams is None:
                self._streams, self.address = streams, attempt.address
            else:
                close(streams)
        return Connection(tuple(attempt for attempt, _, _ in tried))

    async def _tls(self) -> TlsHandshake:
        assert self._streams is not None  # noqa: S101
        assert self.address is not None  # noqa: S101
        address, port, patience = self.address, self.endpoint.port, self._patience("tls")
        seen, self._streams = await shake_hands(self._streams, self.client, self.name, address, port, patience)
        if seen.outcome == "silent" and await sends_alert(address, port, patience / 4):
            return replace(seen, alert=True)
        if seen.outcome in _WORDLESS and not seen.protocol and not self._faults("tls"):
            # A plain listener reads the ClientHello as a length and closes, and so does a gateway without a broker.
            plain = await greet_plainly(address, port, patience)
            if plain.outcome in ("ok", "controller"):
                return TlsHandshake("not-tls", detail=seen.detail, plain=True)
            if plain.protocol not in ("", "TLS"):
                return TlsHandshake("not-tls", detail=seen.detail, protocol=plain.protocol)
        if seen.ok:
            greeting = self._greeting = await self._greet()
            if about_client_certificate(greeting.detail):
                return client_refused(greeting.detail, self.client)
        return seen

    async def _greet(self) -> ApiVersions:
        assert self._streams is not None  # noqa: S101
        self._channel = Channel(*self._streams, self._patience("versions"))
        begun = asyncio.get_running_loop().time()
        greeting = await greet(self._channel)
        self._spent["versions"] = asyncio.get_running_loop().time() - begun
        return greeting

    async def _versions(self) -> ApiVersions:
        assert self.address is not None  # noqa: S101
        seen = self._greeting or await self._greet()
        if self.client.tls is not None or self._faults("versions"):
            return seen
        return await explained(seen, self.address, self.endpoint.port, self.prober.patience / 4)

    async def _sasl(self) -> Login:
        assert self._channel is not None  # noqa: S101
        if not self.client.may_log_in(self.endpoint, self.found.get("tls")):
            return Login("not-tried", detail=_WITHHELD)
        return await log_in(self._channel, self.client)

    async def _metadata(self) -> ClusterMetadata:
        assert self._channel is not None  # noqa: S101
        self._channel.patience = self._patience("metadata")
        seen = await advertised(self._channel, self.shared.brokers)
        if seen.outcome not in _FLAKY or self.client.sasl:
            return seen
        if (known := self.result().mechanisms) is not None:
            return replace(seen, mechanisms=known)
        async with self.prober.channel(self.result(), self.address) as (channel, _):
            return replace(seen, mechanisms=None if channel is None else await enabled_mechanisms(channel))

    async def _identity(self) -> Identity:
        assert self._channel is not None  # noqa: S101
        metadata, leadership = self.found["metadata"], self.shared.leadership
        self._channel.patience = self._patience("identity")
        try:
            first = await identify(self._channel, metadata, self.found.get("tls"), self.expected, leadership)
        except ChannelError as error:
            return Identity(None, "none", str(error), fault=error.fault)
        self._first = first
        assert self.address is not None  # noqa: S101
        return settled(first, [(self.address, first.node_id)])

    async def _size(self) -> SizeTest:
        slow = max((seconds for stage in ("versions", "metadata") for seconds, _ in self.log[stage]), default=0.0)
        here = self.result()

        @asynccontextmanager
        async def another() -> AsyncIterator[Channel | None]:
            async with self.prober.channel(here, self.address, log=self.log) as (channel, _):
                yield channel

        patience = max(min(self.prober.patience, max(_AT_LEAST, _LATENCIES * slow)), _SLOWER * slow)
        return await measure(self._channel, another, patience)

    def _patience(self, stage: Stage) -> float:
        silent = sum(outcome in ("silent", "stalled") for outcome in self._faults(stage))
        usual = self.prober.patience * _PATIENCE[min(silent, len(_PATIENCE) - 1)]
        answers = [seconds for log in self.log.values() for seconds, outcome in log if outcome == "ok"]
        if silent + 1 >= len(_PATIENCE):
            left = self.prober.deadline - asyncio.get_running_loop().time()
            usual = max(usual, min(_LONGEST * self.prober.patience, left / 2))
        return max(usual, _SLOWER * max(answers, default=0.0))


def _counted(stage: Stage, log: Sequence[tuple[float, str]]) -> Tries:
    faults = tuple(outcome for _, outcome in log if outcome != "ok")
    seconds = [spent for spent, outcome in log if outcome == "ok"] or [spent for spent, _ in log]
    return Tries(stage, len(log), len(faults), round(median(seconds), 4), round(max(seconds), 4), faults)
