"""The examples of the README and of the shipping guides, run as they stand there.

Commands that only read the file run with the README's own addresses. Commands that dial run in the loopback world:
each address of the README is replaced by one of the world, so nothing outside is dialled.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.integration.spark.standalone import defaults_in
from tests.support.warm_cli import WarmCli

from brokernat.jvm import find_java, resolve
from brokernat.testbed import LoopbackWorld, Record

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
SHIPPING = ROOT / "docs" / "guides" / "shipping.md"
READING_BACK = ROOT / "docs" / "guides" / "reading-back.md"
COUNT = 30


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def sessions(page: Path = README) -> Iterator[tuple[str, str]]:
    """Each `$ command` of a page's console blocks with the output that the page shows below it."""
    for block in blocks("console", page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


(THE_FILE,) = blocks("yaml")
(THE_JOB,) = blocks("python")
THE_HANDLERS = blocks("python", SHIPPING)[0]
OFFLINE = [
    (command, shown) for command, shown in sessions() if command.startswith(("brokernat config ", "brokernat map "))
]


def dialling(start: str, page: Path = README) -> str:
    """The first command of a page that begins so; it dials, so it runs in the world."""
    return next(command for command, _ in sessions(page) if command.startswith(start))


def run(words: Sequence[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A program of this environment, to its end."""
    program = str(Path(sys.executable).with_name(words[0]))
    return subprocess.run(
        [program, *words[1:]], cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


def carried_over(text: str, world: LoopbackWorld) -> str:
    """The README's addresses replaced by those of the world."""
    theirs = [f"192.168.1.{number}:9092" for number in (23, 24, 25)]
    theirs += [f"172.10.1.40:{port}" for port in (9093, 9094, 9095)]
    ours = [*world.hq.advertised.values(), *world.hq.reachable.values()]
    for written, running in zip(theirs, ours, strict=True):
        text = text.replace(written, str(running))
    assert "192.168." not in text
    assert "172.10." not in text
    return text


def test_the_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    (tmp_path / "brokernat.yaml").write_text(THE_FILE, encoding="utf-8")
    assert len(OFFLINE) >= 4
    for command, shown in OFFLINE:
        done = run(shlex.split(command), tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        if shown:
            assert done.stdout == shown, command


def test_the_doctor_says_what_the_readme_shows(loopback_world: LoopbackWorld, tmp_path: Path) -> None:
    """But for its lines' ends: the world's addresses are longer."""
    done = run(shlex.split(carried_over(dialling("brokernat doctor "), loopback_world)), tmp_path)
    (shown,) = blocks("text")
    assert " ".join(carried_over(shown, loopback_world).split()) in " ".join(done.stdout.split()), done.stderr


@pytest.fixture
def orders(loopback_world: LoopbackWorld, topic_name: str) -> str:
    """A topic of headquarters with COUNT records in it."""
    loopback_world.hq.create_topic(topic_name)
    loopback_world.hq.write(topic_name, [Record(value=f"order {number}".encode()) for number in range(COUNT)])
    return topic_name


@pytest.mark.spark
def test_the_pyspark_job_reads_through_the_map(loopback_world: LoopbackWorld, orders: str, tmp_path: Path) -> None:
    (tmp_path / "brokernat.yaml").write_text(carried_over(THE_FILE, loopback_world), encoding="utf-8")
    subscription = '.option("subscribe", "orders")'
    assert subscription in THE_JOB
    here = f'.option("subscribe", "{orders}").option("startingOffsets", "earliest")'
    end = """
query = orders.writeStream.format("memory").queryName("seen").option("checkpointLocation", "state")
query.trigger(availableNow=True).start().awaitTermination()
print("rows", spark.table("seen").count())
"""
    job = THE_JOB.replace(subscription, here) + end
    environ = {"SPARK_LOCAL_IP": "127.0.0.1", **defaults_in(tmp_path / "conf")}
    done = run(("python", "-c", job), tmp_path, **environ)
    assert f"rows {COUNT}" in done.stdout, done.stderr[-3000:]


def test_the_java_tool_reads_through_the_map(loopback_world: LoopbackWorld, orders: str, tmp_path: Path) -> None:
    copy, exported, tool = (dialling(start) for start in ("brokernat agent ", "export ", "kafka-console"))
    assert run(shlex.split(copy), tmp_path).returncode == 0
    (option,) = shlex.split(carried_over(exported, loopback_world).removeprefix("export KAFKA_OPTS="))
    _, *arguments = shlex.split(carried_over(tool, loopback_world).replace("--topic orders", f"--topic {orders}"))
    jars = resolve(["org.apache.kafka:kafka-tools:4.3.1", "org.slf4j:slf4j-simple:1.7.36"])
    main = ["-cp", os.pathsep.join(map(str, jars)), "org.apache.kafka.tools.consumer.ConsoleConsumer"]
    until = ["--from-beginning", "--max-messages", str(COUNT), "--timeout-ms", "60000"]
    done = subprocess.run(
        [str(find_java().binary), option.replace("$PWD", str(tmp_path)), *main, *arguments, *until],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(done.stdout.split("\n"))[1:] == sorted(f"order {number}" for number in range(COUNT)), done.stderr
    for advertised, reachable in zip(
        loopback_world.hq.advertised.values(), loopback_world.hq.reachable.values(), strict=True
    ):
        assert f"{advertised} -> {reachable}" in done.stderr


@pytest.mark.spark
def test_what_is_shipped_is_read_back_whole(
    loopback_world: LoopbackWorld, topic_name: str, tmp_path: Path, warm_cli: WarmCli
) -> None:
    """The shipping guide's handlers and its first `ship`, then the reconciliation of the guide on reading back."""
    (tmp_path / "brokernat.yaml").write_text(carried_over(THE_FILE, loopback_world), encoding="utf-8")
    logs = tmp_path / "var" / "log" / "app"
    logs.mkdir(parents=True)
    (logs / "audit.log").write_text("".join(f"line {number}\n" for number in range(COUNT)), encoding="utf-8")
    topics = {"audit": topic_name, "logs": f"{topic_name}-logs"}
    for topic in topics.values():
        loopback_world.hq.create_topic(topic)

    def here(text: str) -> str:
        text = text.replace("/var/", f"{tmp_path}/var/")
        for topic, own in topics.items():
            text = text.replace(f'topic="{topic}"', f'topic="{own}"').replace(f"--topic {topic}", f"--topic {own}")
        return text

    service = f"""
{here(THE_HANDLERS)}
for number in range({COUNT}):
    logging.getLogger("audit").warning("event %d", number)
"""
    ship = here(dialling("brokernat ship --cluster", SHIPPING))
    reconcile = here(dialling("brokernat pipeline reconcile --cluster", READING_BACK))
    state = {"XDG_STATE_HOME": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1", **defaults_in(tmp_path / "conf")}
    for command in (["python", "-c", service], [*shlex.split(ship), "--once", "--from-beginning"]):
        done = run(command, tmp_path, **state)
        assert done.returncode == 0, (command, done.stderr[-3000:])
    _, *words = shlex.split(reconcile)
    environ = {**os.environ, **state, "BROKERNAT_CONFIG": str(tmp_path / "brokernat.yaml")}
    done = warm_cli.run([*words, "--format", "json"], environ)
    assert done.returncode == 0, done.stderr[-3000:]
    accounts = json.loads(done.stdout)["sources"]
    assert [(account["records"], account["missing"]) for account in accounts] == [(COUNT, 0)] * 2
