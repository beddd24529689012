"""Where a socket goes, what is said about it, and how often."""

import copy
import logging

import pytest

from brokernat.address import AddressMap, Endpoint, Unmapped
from brokernat.clients.dialling import Dialler, RefusedEndpointError, bootstrap_endpoints, looks_up, rebound

RULES = "192.168.1.23:9092=172.10.1.40:9093,kafka-1=10.9.0.1,[fd00::1]:9092=[fd00::9]:9093"
BOOTSTRAP = frozenset({Endpoint("172.10.1.40", 9093)})


def dialler(unmapped: Unmapped = Unmapped.FAIL) -> Dialler:
    return Dialler(AddressMap.parse(RULES, unmapped), BOOTSTRAP, "cluster hq")


@pytest.mark.parametrize(
    ("advertised", "dialled"),
    [
        (("192.168.1.23", 9092), ("172.10.1.40", 9093)),
        (("Kafka-1.", 19092), ("10.9.0.1", 19092)),
        (("fd00:0::1", 9092), ("fd00::9", 9093)),
        (("172.10.1.40", 9093), ("172.10.1.40", 9093)),
    ],
)
def test_rules_and_bootstrap_servers(advertised: tuple[str, int], dialled: tuple[str, int]) -> None:
    assert dialler().dial(*advertised) == dialled


def test_a_bootstrap_server_that_a_rule_names_is_translated() -> None:
    one = Dialler(AddressMap.parse("kafka-1=10.9.0.1"), frozenset({Endpoint("kafka-1", 9092)}), "cluster hq")
    assert one.dial("kafka-1", 9092) == ("10.9.0.1", 9092)


def test_another_port_of_a_bootstrap_server_is_another_endpoint() -> None:
    with pytest.raises(RefusedEndpointError):
        dialler().dial("172.10.1.40", 9092)


@pytest.mark.parametrize("servers", ["[fe80::1%eth0]:9092", ["fe80::1%eth0"], "SASL_SSL://[FE80:0::1%eth0]:9092"])
def test_the_zone_of_a_bootstrap_server_is_dialled_and_not_compared(servers: str | list[str]) -> None:
    one = Dialler(AddressMap.parse(RULES), bootstrap_endpoints(servers), "cluster hq")
    assert one.dial("fe80::1%eth0", 9092) == ("fe80::1%eth0", 9092)
    with pytest.raises(RefusedEndpointError):
        one.dial("fe80::2%eth0", 9092)


@pytest.mark.parametrize("host", ["192.168.1.99", "fe80::1%eth0", "Some_Host."])
def test_pass_leaves_an_unmapped_host_as_it_is_written(host: str) -> None:
    assert dialler(Unmapped.PASS).dial(host, 9092) == (host, 9092)


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("192.168.1.99", "192.168.1.99:9092 = HOST:PORT"),
        ("fe80::1%e", "[fe80::1]:9092 = HOST:PORT"),
        ("Some Host", "Some Host:9092 = HOST:PORT"),
    ],
)
def test_fail_names_the_rule_to_add(host: str, rule: str) -> None:
    with pytest.raises(RefusedEndpointError) as caught:
        dialler().dial(host, 9092)
    assert caught.value.rule_to_add == rule
    assert rule in str(caught.value)


@pytest.mark.parametrize("host", ["192.168.1.23", "fe80::1%eth0"])
def test_an_empty_map_opts_its_client_out(host: str) -> None:
    assert Dialler(AddressMap(()), BOOTSTRAP, "cluster hq").dial(host, 9092) == (host, 9092)


def test_each_endpoint_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    one = dialler()
    with caplog.at_level(logging.INFO, "brokernat.clients"):
        for _ in range(3):
            one.dial("192.168.1.23", 9092)
            with pytest.raises(RefusedEndpointError):
                one.dial("192.168.1.99", 9092)
    assert [record.levelname for record in caplog.records] == ["INFO", "ERROR"]
    assert caplog.messages[0] == (
        "translated 192.168.1.23:9092 -> 172.10.1.40:9093 (rule 192.168.1.23:9092=172.10.1.40:9093, cluster hq)"
    )
    assert "`192.168.1.99:9092 = HOST:PORT`" in caplog.messages[1]


def test_a_refusal_can_be_copied() -> None:
    refusal = RefusedEndpointError("a:1", "a:1 = HOST:PORT")
    assert str(copy.copy(refusal)) == str(refusal)


@pytest.mark.parametrize(
    ("servers", "endpoints"),
    [
        ("a:1,b", {"a:1", "b:9092"}),
        (["a:1", " [fd00::1]:9093 ", "fd00::2"], {"a:1", "[fd00::1]:9093", "[fd00::2]:9092"}),
        (["SASL_SSL://a:1", "not a host"], {"a:1"}),
    ],
)
def test_bootstrap_servers_as_the_libraries_take_them(servers: str | list[str], endpoints: set[str]) -> None:
    assert set(map(str, bootstrap_endpoints(servers))) == endpoints


def helper(text: str) -> str:
    return f"module's {text}"


def calls(text: str = "default", *, again: str = "again") -> str:
    return helper(text + again)


def test_the_copy_looks_up_ours_and_the_original_its_own() -> None:
    copy = rebound(calls, helper=str.upper)
    assert copy() == "DEFAULTAGAIN"
    assert copy("a", again="b") == "AB"
    assert calls("a", again="b") == "module's ab"


def test_what_can_be_rebound() -> None:
    assert looks_up(calls, "helper")
    assert not looks_up(calls, "upper")
    assert not looks_up(helper, "helper")
    assert not looks_up(None, "helper")
    assert not looks_up(len, "helper")
