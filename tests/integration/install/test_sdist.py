"""What a platform without a wheel does: the source distribution, built with the compiler that the machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = {
    "brokernat/clients/librdkafka/_native/libbrokernat-rdkafka.so",
    "brokernat/clients/librdkafka/_native/libbrokernat-preload.so",
}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    return _build(ROOT, folder, "--sdist", "--no-build-isolation", environment=dict(os.environ))


def test_the_plugin_is_built_from_the_source_distribution(sdist: Path, tmp_path: Path) -> None:
    """In isolation, so that `ziglang` of this environment is out of sight."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler on this machine")
    wheel = _build(sdist, tmp_path, "--wheel", environment=dict(os.environ))
    assert set(zipfile.ZipFile(wheel).namelist()) >= LIBRARIES
    assert "-py3-none-linux_" in wheel.name


def test_without_a_compiler_the_rest_is_there(sdist: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PATH": str(Path(sys.executable).parent)}
    environment.pop("CC", None)
    wheel = _build(sdist, tmp_path, "--wheel", environment=environment)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert not LIBRARIES & names
    assert {f"brokernat/jvm/_native/{jar}" for jar in ("brokernat-agent.jar", "brokernat-spark.jar")} <= names
    assert wheel.name.endswith("-py3-none-any.whl")


def _build(source: Path, target: Path, *options: str, environment: dict[str, str]) -> Path:
    uv = str(Path(sys.executable).with_name("uv"))
    command = [uv, "build", "--quiet", "--python", sys.executable, *options, "--out-dir", str(target), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = [file for file in target.iterdir() if file.suffix in (".whl", ".gz")]
    return built
