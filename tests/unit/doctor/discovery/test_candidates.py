"""Candidates as they are written, and what is refused before it is made."""

from collections.abc import Callable

import pytest

from brokernat.doctor.discovery.candidates import MOST, parse_candidates, parse_scan
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "endpoints"),
    [
        ("172.10.1.40:9093", ["172.10.1.40:9093"]),
        ("Gateway:9093, gateway:9093", ["gateway:9093"]),
        ("172.10.1.40:9093-9095", ["172.10.1.40:9093", "172.10.1.40:9094", "172.10.1.40:9095"]),
        ("172.10.1.40:9093 - 9094,a:1", ["172.10.1.40:9093", "172.10.1.40:9094", "a:1"]),
        ("10.9.0.0/30:9092", [f"10.9.0.{host}:9092" for host in range(4)]),
        ("10.9.0.0/31:9092", ["10.9.0.0:9092", "10.9.0.1:9092"]),
        ("10.9.0.7/32:9092-9093", ["10.9.0.7:9092", "10.9.0.7:9093"]),
        ("[fd00::1]:9092", ["[fd00::1]:9092"]),
        ("[fd00::/127]:9092", ["[fd00::]:9092", "[fd00::1]:9092"]),
    ],
)
def test_what_is_meant(text: str, endpoints: list[str]) -> None:
    assert [str(each) for each in parse_candidates([text])] == endpoints


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gateway",
        "gateway:",
        "gateway:0",
        "gateway:9100-9090",
        "gateway:9090-70000",
        ":9092",
        "fd00::1:9092",
        "[fd00::1:9092",
        "10.9.0.1/28:9092",
        "10.9.0.0/33:9092",
        "10.9.0.0/28",
        "kafka://gateway:9092",
        "a:1,,b:2",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_candidates([text])
    assert {problem.code for problem in caught.value.problems} == {"bad-candidate"}


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_candidates(["a,b:1", "c"])
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("parse", [lambda text: parse_candidates([text]), parse_scan])
def test_an_empty_text_is_said_in_words(parse: Callable[[str], object]) -> None:
    with pytest.raises(ConfigError, match="a candidate is empty"):
        parse("")


@pytest.mark.parametrize("text", ["10.0.0.0/8:9092", "[fd00::]:1-65535", "[fd00::/64]:9092", "a:1-600,b:1-600"])
def test_a_typing_error_is_no_scan(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_candidates([text])
    assert [problem.code for problem in caught.value.problems] == ["too-many-candidates"]
    assert str(MOST) in str(caught.value)


def test_a_scan_is_of_one_host() -> None:
    assert len(parse_scan("172.10.1.40:1-65535")) == 65535
    for text in ("172.10.1.40:1-9,a:1", "10.0.0.0/30:9092", "172.10.1.40"):
        with pytest.raises(ConfigError):
            parse_scan(text)
