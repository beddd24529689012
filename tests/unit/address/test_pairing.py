import pytest

from brokernat.address import Endpoint, Unmapped, pair
from brokernat.errors import ConfigError


def endpoints(*texts: str) -> list[Endpoint]:
    return [Endpoint.parse(text) for text in texts]


def test_first_with_first() -> None:
    address_map = pair(endpoints("gw:1", "gw:2"), endpoints("10.0.0.1:9092", "10.0.0.2:9092"), Unmapped.PASS)
    assert str(address_map) == "10.0.0.1:9092=gw:1,10.0.0.2:9092=gw:2"
    assert address_map.unmapped is Unmapped.PASS


@pytest.mark.parametrize(
    ("bootstrap", "broker_nat", "message", "hint"),
    [
        (
            ["gw:1", "gw:2", "kafka-3:9092"],
            ["a:1", "b:1"],
            "`broker_nat` has 2 entries for 3 bootstrap servers\nunpaired: kafka-3:9092",
            "add one entry to `broker_nat`",
        ),
        (
            ["gw:1"],
            ["a:1", "b:1", "c:1"],
            "`broker_nat` has 3 entries for 1 bootstrap server\nunpaired: b:1, c:1",
            "add 2 entries to `bootstrap_servers`",
        ),
    ],
)
def test_entries_without_a_partner_are_named(
    bootstrap: list[str], broker_nat: list[str], message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        pair(endpoints(*bootstrap), endpoints(*broker_nat))
    assert caught.value.message == message
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)
