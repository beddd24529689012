"""A clean installation of the wheel, and a PATH on which there is neither Java nor Maven nor a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOT_ON_PATH = ("java", "javac", "jar", "jshell", "mvn", "ivy", "gcc", "g++", "cc", "c++", "clang", "make")


@dataclass(frozen=True)
class Installation:
    """An environment with the wheel in it, used from `directory`, which is outside the source tree."""

    bin: Path
    directory: Path
    environment: Mapping[str, str]

    def run(self, *command: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        program = self.bin / command[0]
        return subprocess.run(
            [str(program), *command[1:]],
            cwd=self.directory,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel built from this tree, in a new environment with what `requirements/run.lock` names."""
    place = tmp_path_factory.mktemp("installed")
    uv = str(Path(sys.executable).with_name("uv"))
    python = str(place / "venv" / "bin" / "python")
    wheels = place / "wheels"

    def must(*command: str) -> None:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    must(uv, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(wheels), ".")
    must(uv, "venv", "--quiet", "--python", sys.executable, str(place / "venv"))
    must(uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", "requirements/run.lock")
    (wheel,) = wheels.glob("*.whl")
    must(uv, "pip", "install", "--quiet", "--python", python, "--no-deps", str(wheel))

    path = place / "path"
    path.mkdir()
    for directory in ("/usr/bin", "/bin"):
        for program in Path(directory).iterdir():
            if program.name not in NOT_ON_PATH and not (path / program.name).exists():
                (path / program.name).symlink_to(program)
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME")}
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    return Installation(place / "venv" / "bin", elsewhere, {**kept, "PATH": f"{place / 'venv' / 'bin'}:{path}"})
