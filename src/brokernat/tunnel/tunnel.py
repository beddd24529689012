"""One tunnel to a cluster: opens it, proves its brokers, reopens dead forwards, and closes it.

    bootstrap server -> forward -> metadata -> one forward per broker -> node identity -> address map

A separate thread does this, so that it also works in a notebook, whose main thread has an event loop. The thread checks
the forwards every second, and periodically reads the metadata, through a different broker each time. It reopens a dead
forward on the same local port, because clients have already read the map: at once, then after 1, 2, 4 ... 30 seconds. A
new broker gets a forward and a rule. The forward of an endpoint that several successive responses do not have is
closed. Its rule and its port stay: the broker may only be restarting, and no other program must get its clients.

Clients read a map once. So the map has rules for brokers that may join later (`local_ports.expected_endpoints`). For an
unexpected broker, a message reports that running programs do not have its rule.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, Self

from brokernat.address import AddressMap, Endpoint, canonical_text
from brokernat.address.rules import HostPortRule
from brokernat.config import Cluster
from brokernat.config.model import TunnelSection
from brokernat.doctor.evidence import Advertised, EndpointProbe
from brokernat.errors import BrokernatError, ConfigError, Finding, NothingReachableError, ProofFailedError
from brokernat.render.gateways import port_forward_words
from brokernat.text import counted
from brokernat.tunnel.commands import CommandForwarder, via_words
from brokernat.tunnel.forwarder import Forward, Forwarder, PortTakenError, TunnelFailedError, Workspace
from brokernat.tunnel.local_ports import LocalPorts, expected_endpoints
from brokernat.tunnel.proof import ForwardedBroker, contradiction, probe, unreachable_reason
from brokernat.tunnel.ssh import SshForwarder

log = logging.getLogger(__name__)
_CHECK_INTERVAL: Final = 1.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_PORT_TRIES = 20
_PROBE = 10.0
_ABSENT_RESPONSES = 4
"""The number of successive metadata responses without an endpoint after which its forward is closed: at the default
interval one minute, in which most brokers restart."""


@dataclass(slots=True)
class _Retry:
    """The time of the next attempt to reopen forwards, in seconds of the monotonic clock."""

    at: float
    pause: float = _FIRST_PAUSE


class Tunnel:
    """Forwards to all brokers of a cluster. A context manager; `close` ends all forwards and processes."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        report: Callable[[str], None] = log.info,
        timeout: float = 30.0,
        refresh: float = 15.0,
        require_brokers: bool = True,
    ) -> None:
        """Open it.

        Args:
            cluster: with a `tunnel`; the rules of its map give the endpoint that the far end dials.
            report: called with a line for each event.
            timeout: seconds for the probes at the start, without the time of ssh's prompts.
            refresh: seconds between two reads of the cluster's metadata.
            require_brokers: whether brokers must answer and be proven; False for the doctor, which checks that itself.

        Raises:
            ConfigError: the cluster has no tunnel, or its command is invalid.
            MissingToolError: the program is not installed.
            NothingReachableError: no forward can be opened, or no bootstrap server answers.
            ProofFailedError: another node or another cluster answers behind a forward.
        """
        if cluster.tunnel is None:
            hint = "add `tunnel: {ssh: user@bastion}` to the cluster"
            raise ConfigError(Finding("no-tunnel", f"the cluster `{cluster.name}` has no tunnel", hint))
        if cluster.address_map is not None:
            canonical_text(cluster.address_map)
        self._given_cluster, self._section = cluster, cluster.tunnel
        self._report, self._timeout, self._refresh = report, timeout, refresh
        self._require_brokers = require_brokers
        self._workspace = Workspace()
        self._failure: BaseException | None = None
        self._opened, self._stop = threading.Event(), threading.Event()
        self._forwards: dict[Endpoint, Forward] = {}
        self._nodes: dict[int, Endpoint] = {}
        self._retries: dict[object, _Retry] = {}
        self._unresponsive: set[int] = set()
        self._absences: Counter[Endpoint] = Counter()
        """The number of the last responses that do not have an endpoint."""
        self._cluster_id: str | None = None
        self._refreshes = 0
        self.on_map: Callable[[AddressMap], None] = lambda _: None
        """Called with the new map after a broker has joined or left."""
        try:
            self._forwarder = _forwarder(self._section, self._workspace)
            self._ports = LocalPorts(f"{self._forwarder} {cluster.name} {cluster.bootstrap_servers[0]}")
            self._thread = threading.Thread(target=self._run, name="brokernat-tunnel", daemon=True)
            self._thread.start()
        except BaseException:
            self._workspace.close()
            raise
        try:
            self._opened.wait()
        except BaseException:
            self.close()
            raise
        if self._failure is not None:
            self.close()
            raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return str(self._forwarder)

    @property
    def rules(self) -> dict[Endpoint, Endpoint]:
        """The rules to this machine for bootstrap servers, brokers and expected brokers, in that order."""
        known = self._known_rules
        companions = set(self._section.also) - known.keys()
        return known | {each: self._ports.of(each) for each in self._ports.known() if each not in companions}

    @property
    def _known_rules(self) -> dict[Endpoint, Endpoint]:
        known = dict.fromkeys((*self._given_cluster.bootstrap_servers, *self._nodes.values()))
        return {each: self._ports.of(each) for each in known}

    @property
    def address_map(self) -> AddressMap:
        """The rules as a map; an endpoint without a rule is refused, or passes if the cluster's map has `pass`."""
        return self._map_of(self.rules)

    def _map_of(self, rules: Mapping[Endpoint, Endpoint]) -> AddressMap:
        own_map = self._given_cluster.address_map
        of_ports = tuple(HostPortRule(advertised, local) for advertised, local in rules.items())
        return AddressMap(of_ports) if own_map is None else AddressMap(of_ports, own_map.unmapped)

    @property
    def cluster(self) -> Cluster:
        """The cluster for clients on this machine: the same bootstrap servers, with the tunnel's map."""
        return replace(
            self._given_cluster, address_map=self.address_map, tunnel_is_open=True, companions=self.companions
        )

    @property
    def cluster_without_expected(self) -> Cluster:
        """The same for a command that judges the map: without rules for expected brokers."""
        return replace(self.cluster, address_map=self._map_of(self._known_rules))

    @property
    def brokers(self) -> tuple[ForwardedBroker, ...]:
        """The brokers with a forward, by node id."""
        return tuple(
            ForwardedBroker(advertised, self._ports.of(advertised), node_id)
            for node_id, advertised in sorted(self._nodes.items())
        )

    @property
    def companions(self) -> dict[Endpoint, Endpoint]:
        """The local endpoint of each endpoint of `also`."""
        return {each: self._ports.of(each) for each in self._section.also}

    def close(self) -> None:
        """End all forwards and their connections; a second call does nothing."""
        self._stop.set()
        self._workspace.close()
        self._thread.join()
        self._ports.close()

    def _run(self) -> None:
        try:
            self._open()
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread that called `open`
            self._failure = failure
            return
        finally:
            self._opened.set()
        refreshed = time.monotonic()
        while not self._stop.wait(_CHECK_INTERVAL):
            try:
                self._reopen_dead()
                if time.monotonic() - refreshed >= self._refresh:
                    self._refresh_brokers()
                    refreshed = time.monotonic()
            except Exception:
                if self._stop.is_set():
                    return
                # The open forwards continue to work.
                log.exception("checking the tunnel failed")

    def _open(self) -> None:
        servers = dict.fromkeys((*self._given_cluster.bootstrap_servers, *self._section.also))
        failed = self._open_missing(servers, may_prompt=True)
        if failed and not any(map(self._is_open, self._given_cluster.bootstrap_servers)):
            raise failed[0]
        result = self._bootstrap()
        if result is None:
            return
        self._cluster_id = result.cluster_id
        self._store_endpoints(result.brokers or ())
        for error in self._open_missing(self._nodes.values(), may_prompt=True):
            self._report(f"warning: {error.message}")
        if self._require_brokers:
            self._prove(self.brokers)
        self._ports.reserve(expected_endpoints(tuple(self._nodes.values())))

    def _bootstrap(self) -> EndpointProbe | None:
        """The first bootstrap server that answers; None if `require_brokers` is off and none does."""
        servers = [
            ForwardedBroker(each, self._ports.of(each))
            for each in dict.fromkeys(self._given_cluster.bootstrap_servers)
            if self._is_open(each)
        ]
        probes = probe(self._given_cluster, servers, self._timeout, until="metadata")
        result = next((each for each in probes if each.answers), None)
        if result is None and self._require_brokers:
            reasons = "; ".join(
                f"{server}: {self._reason(server, each)}" for server, each in zip(servers, probes, strict=True)
            )
            raise NothingReachableError(
                f"no bootstrap server answers through `{self}`: {reasons}", hint=_hint(self._given_cluster, probes)
            )
        return result

    def _reason(self, broker: ForwardedBroker, result: EndpointProbe) -> str:
        """Why a client cannot reach a broker; taken from the log of ssh or kubectl if the forward closes at once."""
        reason = unreachable_reason(result) or ""
        logged = self._forwarder.reason(self._forwards[broker.advertised])
        return f"{logged or reason}" if result.failed in (None, "connect", "versions", "tls") else reason

    def _store_endpoints(self, advertised: Iterable[Advertised]) -> list[ForwardedBroker]:
        """Stores the advertised endpoints; returns the new ones."""
        new = []
        for each in advertised:
            try:
                endpoint = Endpoint(each.host, each.port)
            except ConfigError as error:
                self._report(f"warning: node {each.node_id} cannot be forwarded: {error.message}")
                continue
            if self._nodes.get(each.node_id) != endpoint:
                self._nodes[each.node_id] = endpoint
                self._ports.reserve([endpoint])
                new.append(ForwardedBroker(endpoint, self._ports.of(endpoint), each.node_id))
        return new

    def _prove(self, brokers: Sequence[ForwardedBroker]) -> None:
        """Raises ProofFailedError if a forward leads to another broker; reports brokers that do not answer."""
        probes = probe(self._given_cluster, brokers, self._timeout)
        wrong = []
        for broker, result in zip(brokers, probes, strict=True):
            if (found := contradiction(broker, result, self._cluster_id)) is not None:
                wrong.append(f"{broker}: {found}")
            elif unreachable_reason(result) is not None:
                self._report(f"warning: {broker} does not answer: {self._reason(broker, result)}")
                self._unresponsive.add(broker.node_id or 0)
        if wrong:
            hint = "the far end of the tunnel resolves an advertised name to another host: correct it there, or add a "
            raise ProofFailedError(
                f"a forward leads to another node or cluster: {'; '.join(wrong)}",
                hint=hint + "rule to the cluster's `address_map`",
            )

    def _open_missing(self, endpoints: Iterable[Endpoint], *, may_prompt: bool) -> list[BrokernatError]:
        """Opens the missing forwards; tries a connection that several forwards share only once. Returns the errors."""
        failed: dict[object, BrokernatError] = {}
        self._ports.reserve(endpoints)
        for endpoint in endpoints:
            forward = self._forwards.setdefault(endpoint, self._forward(endpoint))
            key = self._forwarder.connection_key(forward)
            if key in failed or self._forwarder.alive(forward):
                continue
            try:
                self._open_new(endpoint, may_prompt=may_prompt)
            except TunnelFailedError as error:
                failed[key] = error
        return list(failed.values())

    def _open_new(self, endpoint: Endpoint, *, may_prompt: bool) -> None:
        """Opens a new forward; its local port may still change, because no client knows it."""
        for _ in range(_PORT_TRIES):
            forward = self._forwards[endpoint] = self._forward(endpoint)
            self._ports.release(endpoint)
            try:
                self._forwarder.open(forward, may_prompt=may_prompt)
            except PortTakenError:
                self._ports.choose_another(endpoint)
            else:
                return
        raise TunnelFailedError(f"no local port is available for {endpoint}: {self._forwarder.reason(forward)}")

    def _forward(self, endpoint: Endpoint) -> Forward:
        own_map = self._given_cluster.address_map
        rule = None if own_map is None else own_map.find(endpoint)
        return Forward(endpoint if rule is None else rule.translate(endpoint), self._ports.of(endpoint))

    def _is_open(self, endpoint: Endpoint) -> bool:
        return endpoint in self._forwards and self._forwarder.alive(self._forwards[endpoint])

    def _reopen_dead(self) -> None:
        dead: dict[object, list[Forward]] = {}
        for forward in self._forwards.values():
            if not self._forwarder.alive(forward):
                dead.setdefault(self._forwarder.connection_key(forward), []).append(forward)
        for key, forwards in dead.items():
            if self._stop.is_set():
                return
            name = str(self._forwarder) if len(forwards) > 1 else str(forwards[0])
            retry = self._retries.get(key)
            if retry is None:
                reason = self._forwarder.reason(forwards[0])
                self._report(f"{name} has ended{f': {reason}' if reason else ''}; reconnecting")
                retry = self._retries[key] = _Retry(time.monotonic())
            if time.monotonic() < retry.at:
                continue
            try:
                for forward in forwards:
                    self._forwarder.open(forward, may_prompt=False)
            except (BrokernatError, PortTakenError) as error:
                if self._stop.is_set():
                    return
                message = error.message if isinstance(error, BrokernatError) else f"another program listens: {error}"
                self._report(f"{message}; again in {retry.pause:.0f} s")
                retry.at, retry.pause = time.monotonic() + retry.pause, min(2 * retry.pause, _LONGEST_PAUSE)
            else:
                del self._retries[key]
                self._report(f"{name} is open again: {counted(len(forwards), 'forward')}")

    def _refresh_brokers(self) -> None:
        """Reads the metadata, through a different broker each time."""
        brokers = [broker for broker in self.brokers if self._is_open(broker.advertised)]
        if not brokers:
            return
        self._refreshes += 1
        broker = brokers[self._refreshes % len(brokers)]
        (result,) = probe(self._given_cluster, [broker], _PROBE, until="metadata")
        node = broker.node_id or 0
        if unreachable_reason(result) is not None:
            if node in self._unresponsive:
                # A program may keep a port open after its target has ended, as kubectl does for a replaced pod.
                self._forwarder.renew(self._forwards[broker.advertised])
            else:
                self._unresponsive.add(node)
                self._report(f"warning: {broker} does not answer: {self._reason(broker, result)}")
            return
        if node in self._unresponsive:
            self._unresponsive.discard(node)
            self._report(f"{broker} answers again")
        if result.cluster_id == self._cluster_id and result.brokers:
            self._add_brokers(result.brokers)
            self._close_absent({self._nodes[each.node_id] for each in result.brokers if each.node_id in self._nodes})

    def _add_brokers(self, advertised: Iterable[Advertised]) -> None:
        """Opens and proves a forward for each new broker."""
        expected = set(self._ports.known())
        new = self._store_endpoints(advertised)
        for broker in new:
            try:
                for error in self._open_missing([broker.advertised], may_prompt=False):
                    self._report(f"warning: {error.message}")
                self._prove([broker])
            except (ConfigError, ProofFailedError) as error:
                self._report(f"warning: {error.message}")
            running = "" if broker.advertised in expected else "; restart running programs, which lack this rule"
            self._report(f"{broker} was added: {broker.advertised} = {broker.local}{running}")
        if new:
            self.on_map(self.address_map)

    def _close_absent(self, advertised: AbstractSet[Endpoint]) -> None:
        """Closes the forwards of endpoints that no broker has advertised for some time."""
        absent = self._forwards.keys() - advertised
        self._absences = Counter({endpoint: self._absences[endpoint] + 1 for endpoint in absent})
        gone = {endpoint for endpoint in absent if self._absences[endpoint] >= _ABSENT_RESPONSES}
        self._nodes = {node_id: each for node_id, each in self._nodes.items() if each not in gone}
        self._unresponsive &= self._nodes.keys()
        closing = sorted(gone - {*self._given_cluster.bootstrap_servers, *self._section.also})
        for endpoint in closing:
            forward = self._forwards.pop(endpoint)
            self._retries.pop(self._forwarder.connection_key(forward), None)
            self._forwarder.close(forward)
            self._ports.hold(endpoint)
            self._report(f"{endpoint} is no longer advertised; its forward is closed")
        if closing:
            self.on_map(self.address_map)


def _forwarder(section: TunnelSection, workspace: Workspace) -> Forwarder:
    if section.ssh is not None:
        return SshForwarder(section.ssh, workspace)
    if section.kubectl is not None:
        kubectl = section.kubectl
        return CommandForwarder(
            "kubectl port-forward",
            lambda forward: port_forward_words(forward.target, forward.local, kubectl),
            workspace,
        )
    template = section.via or ""
    return CommandForwarder(template, lambda forward: via_words(forward, template), workspace)


def _hint(cluster: Cluster, probes: Sequence[EndpointProbe]) -> str:
    if any(each.failed in ("sasl", "tls") or each.mechanisms for each in probes):
        return "the tunnel works, but the brokers reject this client: correct `client:` or `--command-config`"
    commands = ", ".join(f"`nc -vz {each.host} {each.port}`" for each in cluster.bootstrap_servers)
    return f"at the far end these must connect: {commands}; give the bootstrap servers as they are reached there"
