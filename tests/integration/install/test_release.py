"""What `make release` leaves: the files as they would be published, read and used."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from tests.integration.exec.conftest import COUNT, KAFKA_BIN, PROGRAMS, VALUES, bootstrap, distribution

from brokernat import __version__
from brokernat.testbed import LoopbackWorld, Record
from brokernat.testbed.running_cluster import config_text

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
NATIVE = "brokernat/clients/librdkafka/_native"
EXPORTED = {
    "libbrokernat-rdkafka.so": {"conf_init"},
    "libbrokernat-preload.so": {"rd_kafka_new", "rd_kafka_share_consumer_new"},
}
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
PURE = f"brokernat-{__version__}-py3-none-any.whl"


def linux(machine: str) -> str:
    return f"brokernat-{__version__}-py3-none-manylinux_2_17_{machine}.whl"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "dist"
    command = [sys.executable, "tools/release.py", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return folder


def test_the_files_and_their_sums(release: Path) -> None:
    lines = (line.split("  ") for line in (release / "SHA256SUMS").read_text().splitlines())
    sums = {name: digest for digest, name in lines}
    assert set(sums) == {f"brokernat-{__version__}.tar.gz", PURE, *map(linux, MACHINES)}
    assert sums == {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in sums}


@dataclass(frozen=True)
class Library:
    """What a shared library's file says about itself."""

    machine: str
    bits: int
    exported: set[str]
    needed: set[str]
    glibc: set[tuple[int, ...]]
    """The versions of glibc's symbols that it asks for."""
    flags: set[str]


def read_library(wheel: Path, name: str) -> Library:
    elf: Any = ELFFile(io.BytesIO(zipfile.ZipFile(wheel).read(f"{NATIVE}/{name}")))
    (symbols,) = (one for one in elf.iter_sections() if isinstance(one, SymbolTableSection))
    (dynamic,) = (one for one in elf.iter_sections() if isinstance(one, DynamicSection))
    (versions,) = (one for one in elf.iter_sections() if isinstance(one, GNUVerNeedSection))
    tags: list[Any] = list(dynamic.iter_tags())
    return Library(
        machine=elf["e_machine"],
        bits=elf.elfclass,
        exported={one.name for one in symbols.iter_symbols() if one["st_shndx"] != "SHN_UNDEF" and one.name},
        needed={tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"},
        glibc={
            tuple(map(int, auxiliary.name.removeprefix("GLIBC_").split(".")))
            for _, auxiliaries in versions.iter_versions()
            for auxiliary in auxiliaries
        },
        flags={tag.entry.d_tag for tag in tags}
        | {f"flags {tag.entry.d_val:#x}" for tag in tags if "FLAGS" in tag.entry.d_tag},
    )


@pytest.mark.parametrize("name", EXPORTED)
def test_the_plugin_of_each_machine_is_for_that_machine_and_for_an_old_glibc(release: Path, name: str) -> None:
    libraries = {machine: read_library(release / linux(machine), name) for machine in MACHINES}
    for machine, library in libraries.items():
        assert (library.machine, library.bits) == (MACHINES[machine], 64)
        assert library.exported == EXPORTED[name]
        assert library.needed <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
        assert max(library.glibc) <= (2, 17), library.glibc
    assert libraries["x86_64"].flags == libraries["aarch64"].flags


def test_the_pure_wheel_lacks_the_plugin_alone(release: Path) -> None:
    pure, whole = (set(zipfile.ZipFile(release / name).namelist()) for name in (PURE, linux("aarch64")))
    assert {name for name in whole ^ pure if ".dist-info/" not in name} == {f"{NATIVE}/{name}" for name in EXPORTED}
    assert {f"brokernat/jvm/_native/{jar}" for jar in ("brokernat-agent.jar", "brokernat-spark.jar")} <= pure


class Pure:
    """The pure wheel in an environment of its own, in a folder with a world's brokernat.yaml."""

    def __init__(self, folder: Path, world: LoopbackWorld) -> None:
        self.bin, self.folder = folder / "venv" / "bin", folder
        (folder / "brokernat.yaml").write_text(config_text(world.clusters.values()))

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], cwd=self.folder, env=inherited | variables, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def pure(release: Path, loopback_world: LoopbackWorld, tmp_path_factory: pytest.TempPathFactory) -> Pure:
    folder = tmp_path_factory.mktemp("pure")
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    wheel = f"brokernat[doctor,kafka-python,confluent] @ {(release / PURE).as_uri()}"
    subprocess.run(
        [*uv, "pip", "install", "--quiet", "--python", folder / "venv", "-c", "requirements/dev.lock", wheel],
        cwd=ROOT, check=True, timeout=300,
    )  # fmt: skip
    return Pure(folder, loopback_world)


@pytest.fixture
def orders(loopback_world: LoopbackWorld, topic_name: str) -> str:
    loopback_world.hq.create_topic(topic_name)
    loopback_world.hq.write(topic_name, [Record(value=value.encode()) for value in VALUES])
    return topic_name


def test_the_doctor_of_the_pure_wheel(pure: Pure) -> None:
    done = pure.run("brokernat", "doctor", "--cluster", "hq", "--timeout", "30")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_java_program_with_the_pure_wheel(pure: Pure, loopback_world: LoopbackWorld, orders: str) -> None:
    consumer = [str(KAFKA_BIN / "kafka-console-consumer.sh"), "--bootstrap-server", bootstrap(loopback_world)]
    words = ["--topic", orders, "--from-beginning", "--max-messages", str(COUNT), "--timeout-ms", "60000"]
    done = pure.run("brokernat", "exec", "--cluster", "hq", "--", *consumer, *words, **distribution())
    assert sorted(done.stdout.splitlines()) == VALUES, done.stderr[-3000:]


def test_a_python_program_with_the_pure_wheel(pure: Pure, loopback_world: LoopbackWorld, orders: str) -> None:
    program = [str(pure.bin / "python"), str(PROGRAMS / "with_kafka_python.py"), bootstrap(loopback_world), orders]
    done = pure.run("brokernat", "exec", "--cluster", "hq", "--", *program, f"{COUNT + 3}", "90")
    assert Counter(done.stdout.splitlines()) == Counter([*VALUES, *["from kafka-python"] * 3]), done.stderr[-3000:]
    assert "programs with librdkafka get no map: this installation has no librdkafka plug-in" in done.stderr


def test_librdkafka_is_refused_by_the_pure_wheel_in_words(pure: Pure) -> None:
    program = (
        "from brokernat.clients import confluent; from brokernat.config import load; "
        "confluent.configure({}, load('brokernat.yaml').clusters['hq'])"
    )
    for done in (
        pure.run("brokernat", "plugin"),
        pure.run("brokernat", "plugin", "--preload"),
        pure.run("python", "-c", program),
    ):
        assert done.returncode != 0
        assert "this installation has no librdkafka plug-in" in done.stderr
        assert "hint: the wheels for Linux on x86_64 and aarch64 have it" in done.stderr
        assert "internal error" not in done.stderr
