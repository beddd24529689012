"""The plug-in under the address and undefined behaviour sanitizers, in a program with real clients of librdkafka.

The notation alone is checked in tests/property; here are the parts with threads and with memory that two sides own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "native" / "librdkafka-plugin" / "src"
PROGRAM = """
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


def test_clients_of_several_threads(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if not gcc:
        pytest.skip("no gcc on this machine")
    plugin = tmp_path / "libbrokernat-rdkafka.so"
    sources = [source for source in SOURCES.glob("*.c") if source.name != "preload.c"]
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,nodelete"]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run([gcc, *flags, *sanitizers, "-o", plugin, *sources, "-ldl", "-lpthread"], check=True, timeout=120)
    runtime = subprocess.run([gcc, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(plugin), str(tmp_path / "hq.rules")],
        cwd=ROOT,
        # The interpreter leaks by design.
        env=os.environ | {"LD_PRELOAD": runtime.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-5000:]
