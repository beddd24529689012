"""Colour says nothing that the words do not say, and is there only where it is wanted."""

import io
import re

import pytest
from tests.unit.doctor.conftest import WITHOUT_MAP

from brokernat.cli.console import colored, wants_color
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.reports.terminal import terminal

REPORT = terminal(diagnose(WITHOUT_MAP))


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "is_wanted"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_that_has_not_said_no(environ: dict[str, str], is_wanted: bool) -> None:
    assert wants_color(Screen(), environ) is is_wanted
    assert not wants_color(io.StringIO(), environ)


def test_without_the_colours_it_is_the_same_text() -> None:
    assert re.sub(r"\033\[[0-9;]*m", "", colored(REPORT)) == REPORT


def test_what_is_colored() -> None:
    lines = colored(REPORT).splitlines()
    assert lines[0].startswith("\033[1mhq: ")
    assert any(line.startswith("\033[1;31mroot cause:\033[0m Bootstrapping works") for line in lines)
    assert "\033[1mprobe results\033[0m" in lines
    assert any(line.startswith("\033[32m  ok\033[0m bootstrap") for line in lines)
    assert any(line.startswith("\033[1;31m  x\033[0m BN302") for line in lines)
