"""Both libraries with real clients of librdkafka under the sanitizers of gcc and under valgrind.

The notation alone is checked in tests/property; here are the parts with threads and with memory that two sides own.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from tests.integration.librdkafka.rdkafka import LIBRARY
from tests.integration.librdkafka.releases import ROOT

from brokernat.clients.librdkafka import plugin_library, preload_library

pytestmark = pytest.mark.integration

NATIVE = ROOT / "native" / "librdkafka-plugin"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fPIC", "-fno-sanitize-recover=all"]
PACKAGED = plugin_library().parent
TSAN_OPTIONS = f"suppressions={NATIVE / 'tests' / 'librdkafka.tsan'}"
LEFT_OUT = {"libbrokernat-rdkafka.so": "preload.c", "libbrokernat-preload.so": "conf_init.c"}
RULES = "kafka-1:9092=first:1,first:1=twice:1"
MANY_CLIENTS = """
import pathlib, sys, threading
from tests.integration.librdkafka.rdkafka import Conf, lib, producer

plugin, rules = sys.argv[1], pathlib.Path(sys.argv[2])
rules.write_text("kafka-1 = 127.0.0.1 # one\\n*.hq:9092 = localhost:9\\n10.0.0.0/8 = 127.0.0.0/8\\n")
servers = "kafka-1:9092,a.hq:9092,10.0.0.1:9,[fd00::1]:9092,bootstrap:1"

def client(text, unmapped):
    conf = Conf({"plugin.library.paths": plugin, "bootstrap.servers": servers, "log_level": "0",
                 "brokernat.map": text, "brokernat.unmapped": unmapped})
    for wrong in ("x", "a = b:1," * 40, "file:/nonexistent"):
        try:
            conf.set("brokernat.map", wrong)
        except ValueError:
            conf.set("brokernat.map", text)
    copy = conf.copy()
    conf.destroy()
    with producer(copy) as pointer:
        for _ in range(5):
            lib.rd_kafka_poll(pointer, 10)

def work():
    for number in range(30):
        client(f"file:{rules}" if number % 2 else "kafka-1 = [::1]", "pass" if number % 3 else "fail")

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""


def tool(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"no {name} on this machine")


def build(*arguments: str | Path) -> None:
    subprocess.run([tool("gcc"), *FLAGS, *arguments, "-ldl", "-lpthread"], check=True, timeout=120)


def build_library(library: Path, *flags: str) -> None:
    sources = [source for source in (NATIVE / "src").glob("*.c") if source.name != LEFT_OUT[library.name]]
    build("-shared", "-fvisibility=hidden", "-Wl,-z,nodelete", *flags, "-o", library, *sources)


def runtime(sanitizer: str) -> str:
    """The library that must be loaded before any other."""
    file = {"address,undefined": "libasan.so", "thread": "libtsan.so"}[sanitizer]
    found = subprocess.run([tool("gcc"), f"-print-file-name={file}"], stdout=subprocess.PIPE, check=True)
    return found.stdout.decode().strip()


def run(*command: str | Path, **variables: str) -> None:
    environ = os.environ | {"TSAN_OPTIONS": TSAN_OPTIONS} | variables
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-5000:]


def test_clients_of_several_threads(tmp_path: Path) -> None:
    plugin = tmp_path / "libbrokernat-rdkafka.so"
    build_library(plugin, "-fsanitize=address,undefined")
    # The interpreter leaks by design.
    run(sys.executable, "-c", MANY_CLIENTS, plugin, tmp_path / "hq.rules",
        LD_PRELOAD=runtime("address,undefined"), ASAN_OPTIONS="detect_leaks=0")  # fmt: skip


@pytest.mark.parametrize("sanitizer", ["", "address,undefined", "thread"])
def test_a_client_without_a_configuration_has_the_map_of_a_preloaded_library(sanitizer: str, tmp_path: Path) -> None:
    library, program, preload = preload_library(), tmp_path / "bare", ""
    flags = [f"-fsanitize={sanitizer}"] if sanitizer else []
    sources = [NATIVE / "tests" / "bare.c"]
    if sanitizer:
        library, preload = tmp_path / library.name, runtime(sanitizer)
        build_library(library, *flags)
    if sanitizer == "thread":
        sources.append(NATIVE / "tests" / "c11_threads.c")
    build(*flags, "-o", program, *sources, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
    with socket.create_server(("127.0.0.1", 0)) as broker:
        broker.settimeout(60)
        variables = {
            "LD_PRELOAD": f"{preload} {library}".strip(),
            "BROKERNAT_MAP": f"kafka-1.invalid:9092=127.0.0.1:{broker.getsockname()[1]}",
        }
        environ = os.environ | {"TSAN_OPTIONS": TSAN_OPTIONS} | variables
        bare = subprocess.Popen(
            [program, "kafka-1.invalid:9092"], env=environ, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
        )
        try:
            broker.accept()[0].close()
        finally:
            stdout, stderr = bare.communicate()
    assert (bare.returncode, stdout) == (0, "done\n"), stderr[-5000:]


@pytest.mark.parametrize("name", LEFT_OUT)
@pytest.mark.parametrize(
    ("sanitizer", "command", "threads", "rounds"),
    [
        pytest.param("", [], 8, 12, id="as it is"),
        pytest.param("address,undefined", [], 4, 12, id="ASAN"),
        pytest.param("thread", [], 4, 12, id="TSAN"),
        # Under valgrind one thread runs at a time, so they are made to take turns.
        pytest.param(
            "", ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--fair-sched=yes"], 2, 3, id="valgrind"
        ),
    ],
)
def test_clients_made_from_copies_of_running_clients_configurations(
    name: str, sanitizer: str, command: list[str], threads: int, rounds: int, tmp_path: Path
) -> None:
    """Each dials by its own map, once, whichever of them is closed first."""
    library, program = PACKAGED / name, tmp_path / "copies"
    sources, flags, preload = [NATIVE / "tests" / "copies.c"], [], ""
    if sanitizer:
        library, flags, preload = tmp_path / name, [f"-fsanitize={sanitizer}"], runtime(sanitizer)
        build_library(library, *flags)
    if sanitizer == "thread":
        sources.append(NATIVE / "tests" / "c11_threads.c")
    build(*flags, "-o", program, *sources, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
    wrapped = [tool(word) if word == "valgrind" else word for word in command]
    if library.name == preload_library().name:
        preloaded = f"{preload} {library}".strip()
        run(*wrapped, program, f"{threads}", f"{rounds}", LD_PRELOAD=preloaded, BROKERNAT_MAP=RULES)
    else:
        run(*wrapped, program, f"{threads}", f"{rounds}", library)
