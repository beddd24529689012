"""The demo's tables fit into the terminal with their margin: a line too wide would be broken once more by it."""

import pytest
from rich.console import Console

from brokernat.cli.demo import _drawn
from brokernat.demo import EventTable

CAUSES = EventTable(
    ("records", "cause", "for example"),
    (("3", "brokernat.MissingReference", "reference `customers` has no `customer_id` C9999, and so on and so on"),),
)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_is_not_wider_than_the_terminal(width: int) -> None:
    drawn = _drawn(CAUSES, Console(width=width, force_terminal=True, highlight=False, soft_wrap=True))
    lines = drawn.plain.splitlines()
    assert lines
    assert all(len(line) <= width for line in lines)
    assert all(line.startswith("  ") for line in lines if line)
