"""The place of these worlds, running, and what disturbs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.netns.doctor_worlds.layout import (
    CLIENT_HOST,
    CLIENT_HOST_6,
    CONTROLLER_PORT,
    FIRST_LINK,
    FIRST_LINK_6,
    GATEWAY,
    GATEWAY_6,
    LACKS,
    LISTENERS,
    NAME_SERVER,
    NODES,
    OTHER,
    OTHER_BROKER,
    PEER,
    SECOND_CLIENT_HOST,
    SHARED,
    TOPIC,
    advertised,
    bound,
    door,
    front,
    gate,
    host,
    host_6,
    inside,
)
from tests.netns.doctor_worlds.middlebox import Forward, Middlebox
from tests.netns.doctor_worlds.report import Client, Report

from brokernat.address import Endpoint
from brokernat.render import Forward as PlannedForward
from brokernat.testbed import ClusterOptions, Listener, NetnsWorld, Topic
from brokernat.testbed.broker import BrokerVersion
from brokernat.testbed.namespaces import join, run, tool
from brokernat.testbed.place import Launcher, Place, wait_until
from brokernat.testbed.topology import DEFAULT_VERSION, BrokerPlan, ClusterPlan, ListenerPlan, WorldPlan

_ENDS_WITHIN = 300


@dataclass
class SiteGateway:
    """The middlebox's forwards that are there from the beginning."""

    forwards: dict[Endpoint, Forward]
    middlebox: Middlebox

    def start(self) -> None:
        for end, forward in self.forwards.items():
            self.middlebox.open(end, forward)

    def stop(self) -> None:
        for end in self.forwards:
            self.middlebox.shut(end)

    def running(self) -> bool:
        return all(self.middlebox.forward(end) for end in self.forwards)


_HQ = ClusterOptions(
    brokers=len(NODES),
    password="canary-91fe",
    listeners=tuple(Listener(name, protocol) for name, (_, protocol, _) in LISTENERS.items()),
    broker_properties={
        # A client with this address may have one connection to each broker.
        "max.connections.per.ip.overrides": f"{SECOND_CLIENT_HOST}:1",
        # A broker that hangs is to stay one until a report is made, also on a busy machine.
        "broker.session.timeout.ms": "40000",
        "zookeeper.session.timeout.ms": "40000",
    },
)


class Site(NetnsWorld):
    """A context manager; what a test changes it takes back. `version` is that of the four brokers."""

    middlebox: Middlebox

    def __init__(self, version: str = DEFAULT_VERSION) -> None:
        super().__init__(hq=replace(_HQ, version=version), local=ClusterOptions(brokers=1))

    def up(self) -> None:
        super().up()
        self.heal()
        self.hq.create_topics(
            [Topic(TOPIC, partitions=8, replicas=3), *(Topic(f"audit-of-{n:02}-department", 4, 3) for n in range(40))]
        )

    def down(self) -> None:
        super().down()
        if hasattr(self, "middlebox"):
            self.middlebox.close()
            del self.middlebox

    def heal(self) -> None:
        """Every front and every gate leads to its node, and nothing else is in the way."""
        for node in NODES:
            self.middlebox.open(front(node), Forward((bound(node),)))
        self.gateway.start()

    def run(self, client: Client) -> Report:
        """What a command prints for a client."""
        file = self.state / "brokernat.yaml"
        section: dict[str, Any] = {"bootstrap_servers": ",".join(map(str, client.servers))}
        if client.rules:
            section |= {"address_map": list(client.rules), "unmapped": client.unmapped}
        if client.properties:
            section["client"] = {name: value.format(folder=self.hq.folder) for name, value in client.properties}
        file.write_text(json.dumps({"clusters": {"hq": section}}))
        words = [
            sys.executable,
            "-m",
            "brokernat",
            client.command,
            "--config",
            str(file),
            "--format",
            "json",
            *client.more,
        ]
        return self.measured(words)

    def measured(self, words: Sequence[str]) -> Report:
        """Run a command that prints JSON where the client stands."""
        began = time.monotonic()
        process = subprocess.Popen(
            self.client.command(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        out, err = process.communicate(timeout=_ENDS_WITHIN)
        seconds = time.monotonic() - began
        said = json.loads(out) if out.lstrip().startswith("{") else {}
        return Report(process.returncode, seconds, said, err if said else err + out)

    # Disturbances

    @contextmanager
    def forwards(self, changed: dict[Endpoint, Forward | None]) -> Iterator[None]:
        """Forwards with faults, None for nothing that listens."""
        before = {end: self.middlebox.forward(end) for end in changed}
        for end, forward in changed.items():
            self.middlebox.shut(end) if forward is None else self.middlebox.open(end, forward)
        try:
            yield
        finally:
            for end, forward in before.items():
                self.middlebox.shut(end) if forward is None else self.middlebox.open(end, forward)

    @contextmanager
    def filtered(self, *rules: str) -> Iterator[None]:
        """nftables on the brokers' side: `in: RULE` for packets from the client (`in6:` for those of IPv6),
        `out: RULE` for those to it, and `nat: RULE` for where a connection leads."""
        chains = {
            "in": "ip worlds { chain incoming { type filter hook input",
            "in6": "ip6 worlds { chain incoming { type filter hook input",
            "out": "ip worlds { chain outgoing { type filter hook output",
            "nat": "ip worlds { chain leading { type nat hook prerouting",
        }
        mine = {way: [rule.partition(": ")[2] for rule in rules if rule.startswith(f"{way}: ")] for way in chains}
        text = "".join(
            f"table {chains[way]} priority 0; {'; '.join(lines)}; }}\n}}\n" for way, lines in mine.items() if lines
        )
        site = self.namespace("hq")
        site.run(tool("nft"), "-f", "-", text=text)
        try:
            yield
        finally:
            site.run(
                tool("nft"),
                "-f",
                "-",
                text="".join(f"table {each} worlds\ndelete table {each} worlds\n" for each in ("ip", "ip6")),
            )

    @contextmanager
    def stopped(self, *nodes: int) -> Iterator[None]:
        """SIGSTOP of brokers, and all known again afterwards."""
        pids = [self._pid(node) for node in nodes]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            self.wait_whole()

    @contextmanager
    def fenced(self, node: int) -> Iterator[None]:
        """The block begins when the others have given a node up."""
        asked = next(each for each in NODES if each != node)
        wait_until(lambda: node not in self.hq.operations.metadata(asked).nodes, f"node {node} fenced", timeout=90)
        wait_until(lambda: self._led_without([node]), "leaders elsewhere", timeout=60)
        yield

    @contextmanager
    def ended(self, *nodes: int) -> Iterator[None]:
        """Brokers that were ended in order, with the leaders moved."""
        for node in nodes:
            self.hq.stop(node)
        wait_until(lambda: self._led_without(nodes), "leaders elsewhere", timeout=60)
        try:
            yield
        finally:
            for node in nodes:
                self.hq.start(node)
            self.wait_whole()

    def wait_whole(self) -> None:
        """Return when every broker knows all and every partition has a leader."""
        self.hq.wait_ready()
        self.hq.leaders(TOPIC)

    @contextmanager
    def names(self, *, hosts: Sequence[str] = (), servers: Sequence[str] = (), answers: Any = None) -> Iterator[None]:
        """The client's hosts file and name servers; `answers` is served at the name server's address."""
        resolv = Path("/etc/netns") / self.client.name / "resolv.conf"
        stop = self.middlebox.name_server(Endpoint(NAME_SERVER, 53), answers) if answers else None
        wanted = (*servers, *((NAME_SERVER,) if answers else ()))
        resolv.write_text("".join(f"nameserver {each}\n" for each in wanted))
        try:
            with self.client.hosts(*hosts):
                yield
        finally:
            resolv.write_text("")
            if stop:
                stop()

    @contextmanager
    def second_address(self) -> Iterator[None]:
        """The client connects from the address that may have one connection."""
        route = ("route", "replace", "172.20.1.0/24", "via", FIRST_LINK, "src")
        self.client.run(tool("ip"), *route, SECOND_CLIENT_HOST)
        try:
            yield
        finally:
            self.client.run(tool("ip"), *route, CLIENT_HOST)

    @contextmanager
    def routed(self, *routes: str) -> Iterator[None]:
        """Routes of the client's own, as `unreachable 172.20.1.43`."""
        for each in routes:
            self.client.run(tool("ip"), "route", "add", *each.split())
        try:
            yield
        finally:
            for each in routes:
                self.client.run(tool("ip"), "route", "delete", *each.split())

    @contextmanager
    def here(self, forwards: dict[Endpoint, Forward]) -> Iterator[None]:
        """Servers on the client's own machine."""
        mine = Middlebox(self.client, self._certificate)
        for end, forward in forwards.items():
            mine.open(end, forward)
        try:
            yield
        finally:
            mine.close()

    def _led_without(self, nodes: Sequence[int]) -> bool:
        leaders = self.hq.leaders(TOPIC)
        return not set(leaders.values()) & set(nodes)

    def _pid(self, node: int) -> int:
        wanted = f"{self.hq.folder}/node-{node}.properties".encode()
        for each in Path("/proc").iterdir():
            if each.name.isdigit():
                try:
                    words = (each / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if wanted in words and b"kafka.Kafka" in words:
                    return int(each.name)
        raise AssertionError(f"node {node} does not run")

    @property
    def _certificate(self) -> tuple[str, str]:
        return str(self.state / "proxy.pem"), str(self.state / "proxy.key")

    # What a world of the testbed is made of

    def _plan_for_slot(self, slot: int) -> WorldPlan | None:
        hq, local = self._cluster_options["hq"], self._cluster_options["local"]
        assert hq is not None
        assert local is not None
        return WorldPlan(
            f"{self.kind}-{slot}",
            (ClusterPlan("hq", tuple(_planned(node, hq.version) for node in NODES), hq), _other(local)),
            tuple(PlannedForward(gate(node), bound(node)) for node in NODES),
        )

    def _create_network(self, launcher: Launcher) -> SiteGateway:
        self.client, site = self.namespace("client"), self.namespace("hq")
        self.client.create()
        site.create()
        join(self.client, CLIENT_HOST, site, FIRST_LINK)
        self.client.run(tool("ip"), "address", "add", f"{SECOND_CLIENT_HOST}/32", "dev", "to-hq")
        for network in ("172.20.1.0/24", "172.20.2.0/24"):
            self.client.run(tool("ip"), "route", "add", network, "via", FIRST_LINK, "src", CLIENT_HOST)
        site.run(tool("ip"), "route", "add", f"{SECOND_CLIENT_HOST}/32", "dev", "to-client")
        mine = [GATEWAY, NAME_SERVER, OTHER, *map(host, NODES), *(bound(node).host for node in NODES)]
        for each in mine:
            site.run(tool("ip"), "address", "add", f"{each}/32", "dev", "lo")
        # Without "nodad" an address of IPv6 cannot be used for its first second.
        for place, address in (
            (self.client, (f"{CLIENT_HOST_6}/64", "dev", "to-hq")),
            (site, (f"{FIRST_LINK_6}/64", "dev", "to-client")),
            *((site, (f"{each}/128", "dev", "lo")) for each in (GATEWAY_6, *map(host_6, NODES))),
        ):
            place.run(tool("ip"), "address", "add", *address, "nodad")
        self.client.run(tool("ip"), "route", "add", "fd20:1::/64", "via", FIRST_LINK_6)
        certificate, key = self._certificate
        new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key)
        run("openssl", "req", "-x509", *new_key, "-days", "9", "-subj", "/CN=proxy.example", "-out", certificate)
        self.middlebox = Middlebox(site, self._certificate)
        entered = ((listener, node) for listener in ("LOCAL", "LOCALS", "BOX", "SVC", "CLOUD") for node in NODES)
        forwards = {gate(node): Forward((bound(node),)) for node in NODES}
        forwards |= {door(*each): Forward((inside(*each),)) for each in entered}
        return SiteGateway(forwards, self.middlebox)

    def _place(self, cluster: str) -> Place:
        return self.namespace("hq")


def _planned(node: int, version: str) -> BrokerPlan:
    peer, controller = Endpoint(bound(node).host, PEER), Endpoint(bound(node).host, CONTROLLER_PORT)
    more = tuple(
        ListenerPlan(Listener(name, protocol), inside(name, node), advertised(name, node))
        for name, (_, protocol, _) in LISTENERS.items()
        if node not in LACKS.get(name, ()) and not (name in SHARED and BrokerVersion(version).zookeeper)
    )
    return BrokerPlan(node, bound(node), front(node), gate(node), peer, controller, more)


def _other(options: ClusterOptions) -> ClusterPlan:
    peer, controller = Endpoint(OTHER, PEER), Endpoint(OTHER, CONTROLLER_PORT)
    return ClusterPlan("local", (BrokerPlan(1, OTHER_BROKER, OTHER_BROKER, OTHER_BROKER, peer, controller),), options)
