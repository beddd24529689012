"""A file that is in order; what can be wrong is in `test_broken_files.py`."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.config import Config, Secret, load
from brokernat.config.editing import starter_file
from brokernat.errors import ConfigError

Load = Callable[..., Config]
WHOLE = (Path(__file__).parent / "whole.yaml").read_text("utf-8")


def test_the_whole_file(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "hq-password").write_text('can"ary\n')
    config = load_text(WHOLE, {"HQ_USER": "me"})
    hq, local = config.cluster("hq"), config.cluster("local")
    assert [str(server) for server in hq.bootstrap_servers] == [
        "172.10.1.40:9093",
        "172.10.1.40:9094",
        "172.10.1.40:9095",
    ]
    assert local.address_map is None
    properties = hq.kafka_properties()
    assert properties["brokernat.map"].startswith("192.168.1.23:9092=172.10.1.40:9093,192.168.1.24:9092=")
    assert properties["brokernat.unmapped"] == "fail"
    assert properties["sasl.jaas.config"].endswith('username="me" password="can\\"ary";')

    tags = config.pipeline("tags")
    assert tags.name == "tags"
    assert (tags.source.cluster, tags.source.topics, tags.sink.dead_letters) == ("hq", ("orders",), "tags.dead")
    assert (tags.decode.ddl or "").startswith("order_id STRING")
    assert [join.reference for join in tags.enrich] == ["customers"]
    assert tags.references["customers"].path == str(tmp_path / "data/customers.csv")
    assert tags.references["customers"].duplicates == "fail"
    assert tags.checkpoint == str(tmp_path / "state/tags")


def test_the_starter_file_is_in_order(load_text: Load) -> None:
    text = starter_file()
    assert set(load_text(text).clusters) == {"hq", "local"}
    uncommented = text.replace("  # tags:", "  tags:").replace("\n  #   ", "\n    ")
    config = load_text(uncommented.replace("[]", ""), resolve_secrets=False)
    assert config.pipeline("tags").sink.topic == "tags"


def test_paired_lists(load_text: Load) -> None:
    config = load_text("clusters: {hq: {bootstrap_servers: 'gw:1,gw:2', broker_nat: [a:9, b:9], unmapped: pass}}")
    address_map = config.cluster("hq").address_map
    assert str(address_map) == "a:9=gw:1,b:9=gw:2"
    assert address_map is not None
    assert address_map.unmapped == "pass"


def test_a_tunnel_is_one_of_three_ways(load_text: Load) -> None:
    config = load_text(
        "clusters:\n"
        "  a: {bootstrap_servers: 'k:1', tunnel: {ssh: -J outer inner, also: 'registry:8081'}}\n"
        "  b: {bootstrap_servers: 'k:1', tunnel: {kubectl: {}}}\n"
        "  c: {bootstrap_servers: 'k:1', tunnel: {via: 'socat {host} {port} {local}'}}\n"
    )
    a, b, c = (config.cluster(name).tunnel for name in "abc")
    assert a is not None
    assert (a.ssh, str(a.also[0])) == ("-J outer inner", "registry:8081")
    assert b is not None
    assert b.kubectl is not None
    assert c is not None
    assert c.via == "socat {host} {port} {local}"


def test_an_empty_list_is_a_map_without_rules(load_text: Load) -> None:
    config = load_text("clusters: {hq: {bootstrap_servers: 'gw:1', address_map: []}}")
    assert config.cluster("hq").kafka_properties()["brokernat.map"] == ""


def test_paths_with_a_scheme_or_a_root_are_kept(load_text: Load) -> None:
    text = WHOLE.replace("data/customers.csv", "hdfs://nn/c.csv").replace("state/tags", "/var/state")
    tags = load_text(text, resolve_secrets=False).pipeline("tags")
    assert tags.references["customers"].path == "hdfs://nn/c.csv"
    assert tags.checkpoint == "/var/state"


def test_headings_without_entries(load_text: Load) -> None:
    config = load_text("clusters:\n  hq:\n    bootstrap_servers: gw:1\n    client:\npipelines:\n")
    assert config.cluster("hq").client == {}
    assert config.pipelines == {}


def test_secrets_that_are_not_looked_up(load_text: Load) -> None:
    client = load_text(WHOLE, resolve_secrets=False).cluster("hq").client
    assert client["sasl.username"] == Secret("${env:HQ_USER}")


def test_the_process_has_the_environment_unless_one_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b.yaml").write_text("clusters: {hq: {bootstrap_servers: 'gw:1', client: {client.id: '${env:BN_ID}'}}}")
    monkeypatch.setenv("BN_ID", "x")
    assert load(tmp_path / "b.yaml").cluster("hq").kafka_properties()["client.id"] == os.environ["BN_ID"]


def test_nothing_of_a_config_prints_or_pickles_a_secret(load_text: Load) -> None:
    text = (
        "clusters: {hq: {bootstrap_servers: 'gw:1', client: {ssl.key.password: canary, sasl.jaas.config: '${env:J}'}}}"
    )
    config = load_text(text, {"J": "X required a=canary;"})
    assert "canary" not in repr(config)
    with pytest.raises(TypeError):
        pickle.dumps(config.cluster("hq").client["ssl.key.password"])


@pytest.mark.parametrize(
    ("name", "hint"), [("qh", "clusters of the file: `hq`, `local`"), ("locl", "did you mean `local`?")]
)
def test_unknown_names(load_text: Load, name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(WHOLE, resolve_secrets=False).cluster(name)
    assert caught.value.hint == hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "no.yaml")
    assert "brokernat init" in str(caught.value.hint)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert caught.value.problems[0].code == "file-unreadable"


def test_a_shipment_has_its_paths_beside_the_file(tmp_path: Path) -> None:
    file = tmp_path / "brokernat.yaml"
    section = "{cluster: hq, topic: audit, spool: spool/audit, max_spool: 512M, files: [logs/*.log, /var/log/app]}"
    file.write_text(f"clusters: {{hq: {{bootstrap_servers: 'gw:1'}}}}\nshipping: {{audit: {section}}}\n")
    found = load(file).shipment("audit")
    assert (found.cluster, found.topic, found.max_spool) == ("hq", "audit", 512 << 20)
    assert found.spool == str(tmp_path / "spool/audit")
    assert found.files == (str(tmp_path / "logs/*.log"), "/var/log/app")
    with pytest.raises(ConfigError, match="there is no shipment `audits`"):
        load(file).shipment("audits")
