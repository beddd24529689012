from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.bundle import manifest


@pytest.mark.parametrize(
    "line",
    [
        "",
        "made --verify --install",
        "made --verify --extra spark",
        "made --verify",
        "made --verify --format json",
        "damaged --verify",
        "damaged --install",
        "nowhere --verify",
        "made",
    ],
)
def test_bundle(run: Callable[..., str], folder: Path, snapshot: SnapshotAssertion, line: str) -> None:
    for name in ("made", "damaged"):
        (folder / name).mkdir()
        (folder / name / "a.whl").write_bytes(b"wheel")
        manifest.write(folder / name)
    (folder / "damaged" / "a.whl").write_bytes(b"")
    (folder / "damaged" / "b.whl").write_bytes(b"")
    assert run("bundle", *line.split()) == snapshot


def test_an_extra_that_is_not_there_comes_with_those_that_are(run: Callable[..., str]) -> None:
    said = run("bundle", "new", "--extra", "sprak")
    assert "exit 2" in said
    assert "error: brokernat has no extra `sprak`" in said
    assert "shipping, spark" in said
