"""Broken syntax; whole reports are among the broken files."""

import pytest

from brokernat.config.syntax import compose
from brokernat.errors import ConfigError


@pytest.mark.parametrize("rule", ["*.hq:9092 = gw:9093", "[fd00::1]:9092 = gw:1", "[fd00::1] = [fd00::2]", "*.hq = gw"])
@pytest.mark.parametrize("around", ["  - {}\n", "  -   {}   # a comment: *x = 'y'\n", "  - {}\r\n"])
def test_rules_without_quotes_are_named_and_the_rest_is_read(rule: str, around: str) -> None:
    node, problems = compose("map:\n" + around.format(rule) + "  - after\n", "f")
    assert node is not None
    assert [problem.code for problem in problems] == ["yaml-unquoted-rule"]
    assert problems[0].hint == f'put quotes around the whole rule: - "{rule}"'
    (_, value), *_ = node.value
    assert [item.value for item in value.value] == [rule, "after"]


def test_a_second_syntax_error_is_reported_too() -> None:
    with pytest.raises(ConfigError) as caught:
        compose("map:\n  - *.hq = gw\nbad: [\n", "f")
    assert [problem.code for problem in caught.value.problems] == ["yaml-unquoted-rule", "yaml-syntax"]


@pytest.mark.parametrize(
    "value",
    ["*canary", "@canary", "%canary", '"\\canary"', "&canary &canary x", "{canary", "canary: canary: x", "!<canary x"],
)
def test_values_are_not_quoted(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compose(f"sasl.password: {value}\n", "f")
    assert "canary" not in caught.value.report()


def test_depth_is_an_error_and_no_crash() -> None:
    with pytest.raises(ConfigError) as caught:
        compose("[" * 100_000, "f")
    assert caught.value.problems[0].code == "yaml-depth"


def test_nothing() -> None:
    assert compose("# only a comment\n", "f") == (None, [])
