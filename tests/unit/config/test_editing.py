"""A map into `brokernat.yaml`: the rest of the file stays to the byte, and what cannot be edited is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.config.test_merging import OURS, proven

from brokernat.address import Endpoint, parse_rule
from brokernat.config import Config, Secret, load
from brokernat.config.editing import address_map_lines, first_file, starter_file, with_address_map
from brokernat.config.merging import ProvenRule
from brokernat.errors import ConfigError

RULES = [
    proven("a:1 = gw:11"),
    proven("[fd00::1]:1 = gw:12", comment=OURS.replace("node 1", "node 2")),
]
HEAD = """\
# The clusters of the department.
clusters:
  other:
    bootstrap_servers: other:1   # left alone
    address_map:
      - a:1 = other:1
  hq:   # headquarters
    bootstrap_servers: gw:11,gw:12   # by the gateway
"""
TAIL = """\

    # Kafka's own names.
    client:
      security.protocol: SASL_PLAINTEXT
      sasl.mechanism: PLAIN
      sasl.username: ${env:HQ_USER}
      sasl.password: ${file:password}   # never here
  last: {bootstrap_servers: "last:1"}
"""
LINES = f"""\
    address_map:
      - a:1 = gw:11  # {OURS}
      - "[fd00::1]:1 = gw:12"  # {OURS.replace("node 1", "node 2")}
"""


def edited(text: str, cluster: str = "hq") -> str:
    return with_address_map(text, cluster, RULES, "brokernat.yaml")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", LINES),
        ("    address_map: []\n", LINES),
        ("    address_map: []  # soon\n", LINES.replace("map:", "map:  # soon")),
        (LINES, LINES),
        (LINES.replace("2026-11-21", "2020-01-01"), LINES.replace("2026-11-21", "2020-01-01")),
        # The other broker's rule and the comments between stay where they are.
        (
            "    address_map:\n    # the first\n    - a:1 = gw:12   # rack 3\n    # the second\n    - b:1 = gw:13\n",
            f"    address_map:\n    # the first\n    - a:1 = gw:11  # rack 3; {OURS}\n    # the second\n"
            f'    - b:1 = gw:13\n    - "[fd00::1]:1 = gw:12"  # {OURS.replace("node 1", "node 2")}\n',
        ),
        # A list between brackets becomes a line for each rule.
        ('    address_map: [a:1 = gw:11, "[fd00::1]:1 = gw:12"]\n', LINES),
        ("    broker_nat: a:1,b:1   # as it was\n", LINES.replace("map:", "map:   # as it was")),
        ("    broker_nat: [a:1, b:1]\n", LINES),
        ("    broker_nat:\n      - a:1\n      - b:1\n", LINES),
        ("    unmapped: pass\n", LINES + "    unmapped: pass\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["", "bom"])
def test_only_the_map_changes(tmp_path: Path, before: str, after: str, line_end: str, bom: str) -> None:
    text, wanted = (bom + (HEAD + part + TAIL).replace("\n", line_end) for part in (before, after))
    assert edited(text) == wanted
    assert edited(wanted) == wanted
    (tmp_path / "file.yaml").write_bytes(wanted.encode())
    found = load(tmp_path / "file.yaml", resolve_secrets=False).cluster("hq").address_map
    assert found is not None


def test_a_file_that_ends_in_the_middle_of_a_line() -> None:
    assert edited("clusters:\n  hq:\n    bootstrap_servers: gw:11") == (
        "clusters:\n  hq:\n    bootstrap_servers: gw:11\n" + LINES.removesuffix("\n")
    )


def test_bootstrap_servers_as_a_list() -> None:
    text = "clusters:\n  hq:\n    bootstrap_servers:\n      - gw:11\n      - gw:12   # two\n\n    unmapped: pass\n"
    assert edited(text) == text.replace("# two\n", f"# two\n{LINES}")


@pytest.mark.parametrize(
    "text",
    [
        "clusters: {hq: {bootstrap_servers: 'gw:11'}}\n",
        "clusters:\n  hq: {bootstrap_servers: 'gw:11'}\n",
        "clusters:\n  hq: &hq\n    bootstrap_servers: gw:11\n  two:\n    <<: *hq\n    unmapped: pass\n",
        "clusters:\n  hq: &hq\n    bootstrap_servers: gw:11\n  two: *hq\n",
        "clusters:\n  two: &two\n    bootstrap_servers: gw:11\n  hq: *two\n",
        "clusters:\n  o: &o\n    bootstrap_servers: gw:11\n  hq:\n    <<: *o\n    unmapped: pass\n",
        "clusters:\n  o: &o\n    bootstrap_servers: gw:1\n    address_map: [c:1 = x:1]\n"
        "  hq:\n    <<: *o\n    bootstrap_servers: gw:11\n",
        "clusters:\n  hq:\n    bootstrap_servers: gw:11\n    address_map: &m [a:1 = x:1]\n",
        "clusters:\n  o:\n    bootstrap_servers: g:1\n    address_map: &m [a:1 = x:1]\n"
        "  hq:\n    bootstrap_servers: gw:11\n    address_map: *m\n",
        "clusters:\n  hq:\n    bootstrap_servers: gw:11\n    address_map: [a:1 = x:1, # one\n      b:1 = y:1]\n",
        "clusters:\n  hq:\n    bootstrap_servers: gw:11\n    broker_nat:\n      - a:1  # one\n      - b:1\n",
    ],
)
def test_what_cannot_be_edited_in_place_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        edited(text)
    assert [problem.code for problem in caught.value.problems] == ["not-editable"]
    assert "`hq` in `brokernat.yaml`" in str(caught.value)


def test_an_unknown_cluster() -> None:
    with pytest.raises(ConfigError):
        edited(HEAD + TAIL, "none")


def test_lines_to_copy() -> None:
    assert "\n".join(address_map_lines(RULES, "    ")) + "\n" == LINES


Load = Callable[..., Config]
PROVEN = [
    ProvenRule(parse_rule(f"{advertised}={reachable}"), (Endpoint.parse(advertised),), "node 1, by apiversions")
    for advertised, reachable in (("192.168.1.23:9092", "gw:9093"), ("[fd00::1]:9092", "gw:9094"))
]


def test_it_holds_this_cluster_alone_and_the_explanations(load_text: Load) -> None:
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "1e3",
        "sasl.password": "${env:HQ_PASSWORD}",
    }
    text = first_file((Endpoint("gw", 9093), Endpoint("gw", 9094)), client, PROVEN)
    config = load_text(text, {"HQ_PASSWORD": "canary"})
    assert list(config.clusters) == ["hq"]
    hq = config.cluster("hq")
    assert [str(each) for each in hq.bootstrap_servers] == ["gw:9093", "gw:9094"]
    assert hq.address_map is not None
    assert [str(rule) for rule in hq.address_map.rules] == [str(each.rule) for each in PROVEN]
    assert hq.client == {**client, "sasl.password": Secret("canary")}
    explained = {line for line in starter_file().splitlines() if line.lstrip().startswith("# ")}
    assert {line for line in explained if "sasl" not in line} - set(text.splitlines()) <= {
        "    # client:",
        "    #   security.protocol: SASL_PLAINTEXT",
    }


@pytest.mark.parametrize("value", ["on", "null", "1", "a: b", "# x", "'", '"', "\\", "a b", "ä\t", "", "$${x}", "*"])
def test_any_value_is_read_back(load_text: Load, value: str) -> None:
    text = first_file((Endpoint("gw", 9093),), {"client.id": value}, PROVEN)
    assert load_text(text).cluster("hq").client == {"client.id": value.replace("$${", "${")}
