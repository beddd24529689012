from __future__ import annotations

import socket

import pytest

from brokernat.shipping.numbering import Numbering, numbering

KNOWN = {"source": "app.1", "next": 7}


@pytest.mark.parametrize(
    "left",
    [
        {"closed": 1, "durable": 0, "boot": "earlier"},
        {"closed": 0, "durable": 1, "boot": "earlier"},
        {"closed": 0, "durable": 0, "boot": "now"},
    ],
    ids=["closed", "durable", "the same start of the machine"],
)
def test_a_spool_of_which_nothing_can_be_undone_goes_on(left: dict[str, object]) -> None:
    assert numbering(KNOWN | left, "now") == Numbering("app.1", 7)


@pytest.mark.parametrize("left", [{}, KNOWN | {"closed": 0, "durable": 0, "boot": "earlier"}], ids=["new", "power cut"])
def test_where_numbers_may_be_missing_another_source_begins(left: dict[str, object]) -> None:
    first, second = numbering(left, "now"), numbering(left, "now")
    assert first.source.startswith(f"{socket.gethostname()}.")
    assert (first.next, second.next) == (1, 1)
    assert first.source != second.source
