"""Any text is candidates or a reason why it is none, quickly."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from brokernat.address import Endpoint
from brokernat.doctor.discovery.candidates import MOST, parse_candidates, parse_scan
from brokernat.errors import ConfigError

PIECES = st.sampled_from(
    ["10.0.0.0", "10.0.0.1", "/8", "/30", ":", "-", ",", "[", "]", "fd00::", "/64", "1", "65535", "a"]
)
TEXTS = st.one_of(st.text("0123456789.:-/[],a %\u0661", max_size=30), st.lists(PIECES, max_size=8).map("".join))


def read(parse: Callable[[], tuple[Endpoint, ...]]) -> tuple[Endpoint, ...]:
    """Nothing where the text was refused."""
    try:
        return parse()
    except ConfigError:
        return ()


@given(TEXTS)
def test_any_text(text: str) -> None:
    found = read(lambda: parse_candidates([text]))
    assert len(found) <= MOST
    assert not found or parse_candidates([",".join(map(str, found))]) == found


@given(TEXTS)
def test_any_scan(text: str) -> None:
    assert len({each.host for each in read(lambda: parse_scan(text))}) <= 1
