"""Situations in which, taken together, every check of the doctor finds something; made by hand, a family each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.support.endpoint_probes import probed
from tests.support.endpoint_probes import replace as replace_words
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, mapped, reached, refused

from brokernat.doctor.evidence import (
    Advertised,
    ApiVersions,
    Attempt,
    BrokerFile,
    BrokerPath,
    ComposeClient,
    Coordinator,
    EndpointProbe,
    Evidence,
    ExecutorSeen,
    Identity,
    Leaderless,
    Login,
    NameLookup,
    NodeTried,
    Presented,
    SizeTest,
    TlsHandshake,
    TopicSeen,
    Transfer,
    Tries,
)

FIRST = WITHOUT_MAP.bootstraps[0]


def server(host: str, **words: Any) -> EndpointProbe:
    """A bootstrap server that takes connections."""
    usual = {"addresses": ("172.10.1.40",), "attempts": (Attempt("172.10.1.40", "connected"),)}
    return probed(f"{host}:9092", host, **usual | words)


def file(name: str, published: tuple[tuple[int, int], ...] | None = None, **settings: str) -> BrokerFile:
    """A broker's file; `advertised_listeners` is the setting `advertised.listeners`."""
    return BrokerFile(name, tuple((key.replace("_", "."), value) for key, value in settings.items()), published)


FILES = (
    file("a", node_id="1", process_roles="broker", listeners="nonsense,A://a:9092", controller_listener_names="C"),
    BrokerFile("b", (("node.id", "1"), *[("listeners", "A://:9092,A://:9093,B://:9092")] * 2)),
    file("c", listeners="PLAINTEXT://:9092", advertised_listeners="X://0.0.0.0:9092"),
    file("d", listeners="PLAINTEXT://:9092"),
    file("e", advertised_listeners="PLAINTEXT://kafka.example:9092"),
    file("f", advertised_listeners="PLAINTEXT://kafka.example:9092"),
    file("g", process_roles="controller", listeners="C://:9093"),
    file("h", advertised_listeners="PLAINTEXT://kafka:9092"),
    BrokerFile(
        "d.yml r",
        (("node.id", "8"), ("offsets.topic.replication.factor", "3"), ("zookeeper.connect", "zk:2181")),
        ((9092, 29099),),
        names=("r",),
        zookeepers=("zk:2181",),
    ),
    file("s", ((9092, 9092),), process_roles="broker", listeners="PLAINTEXT://192.168.1.5:9092"),
    BrokerFile(
        "c.yml t",
        (("advertised.listeners", "PLAINTEXT://localhost:9092"),),
        ((9092, 9092),),
        names=("t",),
        clients=(ComposeClient("app", "BOOTSTRAP_SERVERS", "t", 9092, "shared"),),
    ),
    file(
        "v",
        node_id="9",
        process_roles="controller",
        controller_listener_names="C",
        listeners="C://:9093",
        controller_quorum_voters="9@v.example:9094",
    ),
    file("i", ((9092, 9093),), advertised_listeners="PLAINTEXT://localhost:9092"),
    file("j", listeners="A://:9092", advertised_listeners="A://j.example:9092", listener_security_protocol_map="A:SSL"),
    file("k", listeners="A://:9092", listener_security_protocol_map="A:PLAINTEXT"),
    file("l", host_name="kafka"),
    file("m", advertised_listeners="PLAINTEXT://m.example:0"),
    file(
        "n",
        listeners="PLAINTEXT://n.example:9092,SSL://n.example:9093",
        advertised_listeners="PLAINTEXT://n.example:9093,SSL://n.example:9092",
    ),
    file("c.yml o", ((9092, 9092),), listeners="PLAINTEXT://localhost:9092", advertised_listeners="PLAINTEXT://o:9092"),
    file("c.yml p", ((9092, 9092),), listeners="PLAINTEXT://:9092", advertised_listeners="PLAINTEXT://p:9092"),
    file("q", listeners="ODD://:9092", advertised_listeners="ODD://q.example:9092", advertised_listener="ODD://q"),
    file("r", listeners="ODD://:9092", advertised_listeners="ODD://r.example:9902"),
)
EXPIRED = Presented("kafka", "authority", "2020-01-01T00:00:00+00:00", "2021-01-01T00:00:00+00:00")
LOGIN = replace(
    WITHOUT_MAP,
    security_protocol="SASL_PLAINTEXT",
    mechanism="PLAIN",
    bootstraps=(
        FIRST,
        server("a.example", tls=TlsHandshake("not-tls")),
        server("b.example", tls=TlsHandshake("name-mismatch", ("c.example",))),
        server("c.example", tls=TlsHandshake("expired", chain=(EXPIRED,))),
        server("d.example", tls=TlsHandshake("client-certificate")),
        server("e.example", tls=TlsHandshake("failed", detail="UNSUPPORTED_PROTOCOL")),
        server("f.example", speaks="kafka", sasl=Login("rejected", detail="no")),
    ),
)
LOST = SizeTest((Transfer("answer", 10_000, "silent", 0, 3, 3),))
PEERS = replace(
    WITHOUT_MAP,
    bootstraps=(
        FIRST,
        server("a.example", speaks="http"),
        server("b.example", speaks="controller"),
        server("c.example", speaks="silence"),
        server("d.example", speaks="closed"),
        replace(server("e.example"), versions=ApiVersions("cut", received=5)),
        replace(FIRST, endpoint="f.example:9092", size=LOST),
        replace(FIRST, endpoint="g.example:9092", tries=(Tries("versions", 2, 1, 3.0, 3.0, ("reset",)),)),
        server("h.example", speaks="kafka", sasl=Login("ok")),
        server("i.example", speaks="silence", complete=False),
    ),
    paths=(
        *(BrokerPath(each, reached(each.node_id, each.endpoint)) for each in BROKERS[:2]),
        BrokerPath(BROKERS[2], server("192.168.1.25", speaks="tls")),
    ),
)
REFUSED = (Attempt("172.10.1.40", "refused"),)
PROHIBITED = (Attempt("172.10.1.40", "refused", icmp="admin-prohibited"),)
TWO = ("172.10.1.40", "172.10.1.41")
NAMES = replace(
    WITHOUT_MAP,
    dns_lookup="resolve_canonical_bootstrap_servers_only",
    bootstraps=(
        FIRST,
        FIRST,
        server("a.example", attempts=(), dns_error="unknown"),
        refused("172.10.1.44:9092"),
        replace_words(FIRST, endpoint="b.example:9092", name="b.example", canonical=("gateway.example",)),
        server("c.example", attempts=(Attempt(TWO[0], "connected"), Attempt(TWO[1], "refused")), addresses=TWO),
        server("d.example", attempts=PROHIBITED),
        server("e.example", speaks="kafka", hosts_entry="172.10.1.40 e.example"),
        replace(server("f.example", attempts=()), resolve=NameLookup("no-answer", detail="SERVFAIL")),
    ),
    paths=(BrokerPath(BROKERS[0], server("g.example", attempts=(), dns_error="unknown")), *WITHOUT_MAP.paths[1:]),
)
SELF, INSIDE = Advertised(1, "localhost", 9092), Advertised(2, "kafka", 9092)
NOTHING, TWICE = Advertised(3, "", 0), Advertised(4, "kafka", 9092)
UNLIKE = (Advertised(1, "192.168.1.23", 9092), Advertised(2, "192.168.1.24", 9092), Advertised(3, "kafka.example", 1))
CLUSTER = replace(
    WITHOUT_MAP,
    bootstraps=(
        replace_words(FIRST, knows=(("Produce", 10),), controller_id=99),
        replace_words(FIRST, endpoint="a.example:9092", cluster_id="d"),
    ),
    paths=(BrokerPath(BROKERS[0], reached(1, BROKERS[0].endpoint)), *WITHOUT_MAP.paths[1:]),
    replicas=(1, 2, 3, 4, 5),
    in_sync=(1, 2, 3, 4),
    leaderless=(Leaderless("LISTENER_NOT_FOUND", 1, "orders-0", (1,)),),
)
EXCHANGED, STRAIGHT = mapped({1: 2, 2: 1, 3: 3}), mapped({1: 1, 2: 2, 3: 3})


def by_rule(node_id: int, **words: Any) -> BrokerPath:
    """The path to a node of the straight map, with other words about what is dialled."""
    path = STRAIGHT.paths[node_id - 1]
    return replace(path, probe=replace_words(path.probe, **words), direct=refused(path.broker.endpoint))


MAPS = {
    "exchanged": replace(
        EXCHANGED,
        mechanism="GSSAPI",
        paths=tuple(
            replace(each, probe=replace_words(each.probe, knows=(("ApiVersions", 5),))) for each in EXCHANGED.paths
        ),
    ),
    "elsewhere": replace(
        STRAIGHT,
        paths=(
            by_rule(1, identity=Identity(1, "describeconfigs", others=(2,))),
            by_rule(2, brokers=(Advertised(2, "b.hq", 1),)),
            by_rule(3, identity=Identity(None, "none")),
        ),
    ),
    "dead": replace(STRAIGHT, paths=tuple(replace(each, probe=refused(GATEWAY[1])) for each in STRAIGHT.paths)),
    "reached": replace(STRAIGHT, paths=(by_rule(1), by_rule(2), by_rule(3))),
    "renumbered": replace(
        STRAIGHT, paths=tuple(by_rule(n, identity=Identity(100 + n, "apiversions")) for n in (1, 2, 3))
    ),
    "in conflict": replace(STRAIGHT, rules=(*(STRAIGHT.rules or ()), "a:1=b:2", "a:1=c:3")),
    "with another timestamp": replace(WITHOUT_MAP, rules=("a:1=b:2",), unmapped="fail"),
    "reversed": replace(WITHOUT_MAP, rules=tuple(f"{GATEWAY[n]}={BROKERS[n - 1].endpoint}" for n in (1, 2, 3))),
    "chained": replace(
        STRAIGHT,
        rules=(f"{BROKERS[0].endpoint}=a:9092", f"a:9092={GATEWAY[1]}"),
        paths=(replace(STRAIGHT.paths[0], rule=f"{BROKERS[0].endpoint}=a:9092", probe=server("a", attempts=REFUSED)),),
    ),
    "without a rule": mapped({1: 1, 2: 2}),
}
TRIED = NodeTried(1, BROKERS[0].endpoint, GATEWAY[1], "unreachable")
SPARK = replace(
    STRAIGHT,
    executors=(
        ExecutorSeen("1", "w1", "answered", nodes=(TRIED,)),
        ExecutorSeen("2", "w2", "no-agent"),
        ExecutorSeen("3", "w3", "silent"),
    ),
    coordinators=(
        Coordinator("group", "a", error="GROUP_AUTHORIZATION_FAILED"),
        Coordinator("group", "b", Advertised(9, "i.example", 9092)),
        Coordinator("transaction", "c", Advertised(9, "i.example", 9092)),
        Coordinator("group", "d", error="COORDINATOR_NOT_AVAILABLE"),
    ),
    topics=(
        TopicSeen("gone", "UNKNOWN_TOPIC_OR_PARTITION"),
        TopicSeen("seen", rights=("READ",)),
        TopicSeen("strict", partitions=3, in_sync=1, required=2),
    ),
)


def advertising(*brokers: Advertised) -> Evidence:
    """Servers that name these brokers, none of which is reached."""
    paths = tuple(BrokerPath(each, server(each.host, attempts=REFUSED) if each.port else None) for each in brokers)
    return replace(WITHOUT_MAP, bootstraps=(replace_words(FIRST, brokers=brokers),), paths=paths, replicas=None)


PAGE = {"addresses": ("172.10.1.80",), "attempts": (Attempt("172.10.1.80", "refused"),)}
NAMED = tuple(Advertised(n, f"kafka-{n}.kafka.svc", 9092) for n in (1, 2))
SITUATIONS: tuple[Evidence, ...] = (
    replace(WITHOUT_MAP, files=FILES),
    LOGIN,
    PEERS,
    NAMES,
    CLUSTER,
    SPARK,
    advertising(SELF, INSIDE, NOTHING, TWICE),
    advertising(*UNLIKE),
    replace(advertising(*NAMED), paths=tuple(BrokerPath(each, server(each.host, **PAGE)) for each in NAMED)),
    replace(advertising(INSIDE), paths=(BrokerPath(INSIDE, server(INSIDE.host, attempts=(), dns_error="unknown")),)),
    replace(WITHOUT_MAP, paths=tuple(BrokerPath(each, reached(each.node_id, each.endpoint)) for each in BROKERS)),
    replace(WITHOUT_MAP, bootstraps=(FIRST, replace_words(FIRST, endpoint="b:1", brokers=UNLIKE))),
    replace(WITHOUT_MAP, bootstraps=(FIRST, replace_words(FIRST, endpoint="b:1", brokers=BROKERS[:2]))),
    *MAPS.values(),
)
