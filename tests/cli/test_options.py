"""Values that options of several commands refuse."""

from collections.abc import Callable

import pytest

Run = Callable[..., str]


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("doctor", "--timeout"),
        ("pipeline check tags", "--proof-timeout"),
        ("proxy", "--handshake-timeout"),
        ("proxy", "--idle-timeout"),
        ("proxy", "--drain-timeout"),
    ],
)
def test_seconds_are_a_number(run: Run, command: str, option: str, seconds: str) -> None:
    printed = run(*command.split(), option, seconds)
    assert printed.startswith("exit 2\n")
    assert f"'{option}'" in printed
