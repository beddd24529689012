"""A bundle without Spark, made and installed where pip is told that there is no index."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from brokernat.bundle import collect

pytestmark = pytest.mark.integration


def must(*words: str | Path) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_installed_from_a_bundle_makes_the_same_bundle(tmp_path: Path) -> None:
    made = collect(tmp_path / "bundle", extras=())
    venv = tmp_path / "venv" / "bin"
    must(sys.executable, "-m", "venv", tmp_path / "venv")
    must(venv / "pip", "install", "--no-index", "--find-links", made.folder / "wheels", "brokernat")

    assert (
        must(venv / "brokernat", "map", "translate", "--rule", "kafka-1 = 10.0.0.1", "kafka-1:9092")
        == "10.0.0.1:9092\n"
    )
    assert "match SHA256SUMS" in must(venv / "brokernat", "bundle", made.folder, "--verify")

    must(venv / "brokernat", "bundle", tmp_path / "again")
    names = {
        name: [path.name for path in sorted((tmp_path / name / "wheels").iterdir())] for name in ("bundle", "again")
    }
    assert names["again"] == names["bundle"]
    must(
        venv / "pip",
        "install",
        "--no-index",
        "--find-links",
        tmp_path / "again" / "wheels",
        "--force-reinstall",
        "brokernat",
    )
    assert must(venv / "brokernat", "--version").startswith("brokernat ")
