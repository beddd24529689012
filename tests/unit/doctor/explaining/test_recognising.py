"""Every captured line belongs to one row and to the right one; what healthy clients log, and noise, to none."""

import random
import string

import pytest
from tests.unit.doctor.explaining.vectors import Vector, healthy, vectors

from brokernat.doctor.explaining.recognising import recognise, rows
from brokernat.doctor.explaining.symptom import Role, Telling
from brokernat.doctor.explaining.table import SYMPTOMS

VECTORS = vectors()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector.row} {vector.client}")
def test_a_line_belongs_to_its_row_alone(vector: Vector) -> None:
    found = rows(vector.line)
    plain = [each.key for each in found if each.telling is not Telling.WRAPPER]
    wrappers = [each.key for each in found if each.telling is Telling.WRAPPER]
    assert (plain or wrappers) == [vector.row]
    recognised = recognise(vector.line)
    assert recognised is not None
    assert recognised.symptom.key == vector.row
    assert "node ?" not in recognised.means
    assert all((recognised.means, recognised.do, recognised.then))


def test_every_row_has_a_line() -> None:
    assert {vector.row for vector in VECTORS} == {symptom.key for symptom in SYMPTOMS}


def test_healthy_clients_say_nothing() -> None:
    lines = healthy()
    assert len(lines) > 300
    assert [line for line in lines if recognise(line)] == []


def test_noise_says_nothing() -> None:
    chance = random.Random(5)
    fragments = [fragment for symptom in SYMPTOMS for fragment in symptom.holds]
    for _ in range(3000):
        noise = "".join(chance.choices(string.printable, k=chance.randrange(200)))
        # A fragment alone is no line: what stands around it has to fit.
        cut = chance.choice(fragments)[: chance.randrange(12)]
        assert recognise(noise + cut) is None


@pytest.mark.parametrize(
    ("line", "role", "node", "endpoint"),
    [
        ("Connection to node -1 (gw/10.0.0.1:9093) could not be established. Broker may not be available.",
         Role.BOOTSTRAP, None, "gw:9093"),
        ("Connection to node 2 (/10.0.0.1:9092) could not be established. Node may not be available.",
         Role.ADVERTISED, 2, "10.0.0.1:9092"),
        ("Connection to node 2147483645 (k/[fd00::1]:9092) could not be established. Node may not be available.",
         Role.COORDINATOR, 2, "k:9092"),
        ("[thrd:sasl_ssl://k1:9093/7]: sasl_ssl://k1:9093/7: Connect to ipv4#10.0.0.1:9093 failed: Connection refused",
         Role.ADVERTISED, 7, "k1:9093"),
        ("[thrd:GroupCoordinator]: GroupCoordinator/3: Connect to ipv4#10.0.0.1:9092 failed: Connection refused",
         Role.COORDINATOR, 3, "10.0.0.1:9092"),
        ("[thrd:coordinator-1:9092/bootstrap]: coordinator-1:9092/2: Connect to ipv4#10.0.0.1:9092 failed: Timed out",
         Role.ADVERTISED, 2, "coordinator-1:9092"),
        ("[thrd:GroupCoordinator]: GroupCoordinator: Failed to resolve 'k1:9093': Name or service not known",
         Role.COORDINATOR, None, "k1:9093"),
    ],
)  # fmt: skip
def test_whose_endpoint_it_is(line: str, role: Role, node: int | None, endpoint: str) -> None:
    found = recognise(line)
    assert found is not None
    assert (found.named.role, found.named.node, found.named.endpoint) == (role, node, endpoint)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", "BN201"), ("127.0.0.1", "BN201"), ("192.168.1.23", "BN202"), ("c0ffee123456", "BN203"),
        ("kafka-1", "BN203"), ("kafka-1.hq.internal", "BN203"), ("kafka-1.example.org", None), ("8.8.8.8", None),
    ],
)  # fmt: skip
def test_what_an_advertised_host_gives_away(host: str, code: str | None) -> None:
    line = f"Connection to node 1 ({host}/<unresolved>:9092) could not be established. Node may not be available."
    found = recognise(line)
    assert found is not None
    assert found.codes == (("BN302", "BN305", code) if code else ("BN302", "BN305"))
    bootstrap = recognise(line.replace("node 1", "node -1"))
    assert bootstrap is not None
    assert bootstrap.codes == ("BN103",)


@pytest.mark.parametrize(
    "line",
    [
        "Connection to node 2 (192.168.1.23/172.10.1.40:9093) could not be established. Node may not be available.",
        "[thrd:192.168.1.23:9092/2]: 192.168.1.23:9092/2: Connect to ipv4#172.10.1.40:9093 failed: Connection refused",
    ],
)
def test_an_address_that_was_dialled_elsewhere_has_its_rule(line: str) -> None:
    found = recognise(line)
    assert found is not None
    assert found.named.dialled == "172.10.1.40:9093"
    assert "dialled at 172.10.1.40:9093" in found.means
    assert (found.codes, found.rule) == (("BN305",), None)


def test_a_rule_is_proposed_only_where_one_is_missing() -> None:
    dead = "Connection to node 2 (/10.0.0.1:9092) could not be established. Node may not be available."
    assert [found.rule for found in map(recognise, (dead, dead.replace("node 2", "node -1"))) if found] == [
        "10.0.0.1:9092 = HOST:PORT",
        None,
    ]
