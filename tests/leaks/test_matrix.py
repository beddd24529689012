"""The page of the matrix shows a leak and a role that failed."""

from tests.leaks.matrix import BROKERS, cell, columns, page
from tests.leaks.runs import Run
from tests.leaks.scan import Hit, Scan


def _scan(*leaks: Hit, settings: tuple[Hit, ...] = ()) -> Scan:
    answered = {(0, 9): 4, (3, 12): 1, (3, 4): 1, (36, 2): 1}
    return Scan(1_250_000, 7, leaks, settings, answered, by_chance=0.002)


def test_a_row_for_each_client_and_a_column_for_each_version() -> None:
    hit = Hit("text :43712", 12, (16, 3), b"...")
    clean, leaking = Run({"admin": "ok"}, _scan(settings=(hit,))), Run({"group": "timed out\nat x"}, _scan(hit))
    cells = {"some client 1.0": dict(zip(BROKERS, map(cell, (clean, clean, leaking)), strict=True))}
    text = page(cells, 286e6)
    *_, row = (line for line in text.splitlines() if line.startswith("|"))
    good = "**0** in 1.2 MB, 7 connections; Produce 9, Metadata 12; DescribeConfigs: 1"
    bad = "**1** in 1.2 MB, 7 connections; Produce 9, Metadata 12; group: timed out"
    assert row == f"| some client 1.0 | {good} | {good} | {bad} |"
    assert "once in 286 MB of random bytes" in text
    assert columns(text) == cells


def test_a_run_names_its_faults() -> None:
    hit = Hit("text :43712", 12, None, b"at :43712")
    assert Run({"admin": "ok", "group": "timed out"}, _scan(hit)).faults == [
        "group: timed out",
        "leak: text :43712 at byte 12, no response of a known request: b'at :43712'",
    ]
