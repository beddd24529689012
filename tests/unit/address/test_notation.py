"""Places, words and hints; what is right and wrong is in the vectors."""

import pytest

from brokernat.address import AddressMap, parse_rule, split_rules
from brokernat.errors import ConfigError


def test_rules_know_where_they_start() -> None:
    text = "a:1=b:1, c=d ,\n\n  # comment, e=f\n\te=f#g=h\r\ni=j"
    assert [(rule.text, rule.location.line, rule.location.column) for rule in split_rules(text)] == [
        ("a:1=b:1", 1, 1),
        ("c=d", 1, 10),
        ("e=f", 4, 2),
        ("i=j", 5, 1),
    ]


def test_every_wrong_rule_is_reported_at_its_place() -> None:
    with pytest.raises(ConfigError) as caught:
        AddressMap.parse("a:1=b:1, a:0=b:1\n  kafka\n")
    assert [(p.code, str(p.location)) for p in caught.value.problems] == [
        ("bad-port", "line 1, column 10"),
        ("missing-equals", "line 2, column 3"),
    ]


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("kafka-1 = 10.0.0.1:9093", "write `kafka-1:9092 = 10.0.0.1:9093`, or `kafka-1 = 10.0.0.1` to keep every port"),
        ("kafka-1:9094 = [::1]", "write `kafka-1:9094 = [::1]:9094`, or `kafka-1 = [::1]` to keep every port"),
        ("*.hq = gw:{7+id}", "write `*.hq:9092 = gw:{7+id}`, or `*.hq = gw` to keep every port"),
        ("a:1 => b:1", "write `a:1 = b:1`"),
        ("10.1.0.0/24-->10.9.0.0/24", "write `10.1.0.0/24 = 10.9.0.0/24`"),
        ("a -> b:1", "write `=` between the sides: `192.168.1.23:9092 = 172.10.1.40:9093`"),
        ("::ffff:10.0.0.1/120 = ::/120", "a network is written with its host bits zero: `::ffff:10.0.0.0/120`"),
    ],
)
def test_hints_show_what_to_write(rule: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rule(rule)
    assert caught.value.hint == hint


def test_the_rule_is_quoted_as_it_was_written() -> None:
    with pytest.raises(ConfigError, match=r"^rule `Kafka-1 = X:1`: only the reachable side has a port\nhint: "):
        parse_rule("  Kafka-1 = X:1 ")
