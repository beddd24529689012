"""What `testbed` refuses before it starts anything; worlds that run are in tests/integration/testbed."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    ("file", "why"),
    [("brokernat.yaml", "exists and is left as it is"), ("nowhere/b.yaml", "cannot be written")],
)
def test_a_file_that_cannot_be_written_is_told_before_brokers_start(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, file: str, why: str
) -> None:
    monkeypatch.setattr("brokernat.testbed.LoopbackWorld.up", lambda _: pytest.fail("brokers were started"))
    text = run("testbed", "up", "--output", file)
    assert text.startswith("exit 2\n")
    assert why in text
