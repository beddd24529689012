"""A bundle where no registry can be reached: installed in a namespace without any route, used at the client's place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import cluster_section
from tests.integration.spark.standalone import SMALL

from brokernat.testbed import NetnsWorld
from brokernat.testbed.place import Place

pytestmark = [pytest.mark.netns, pytest.mark.spark]

EXTRAS = ("spark", "shipping")
LINES = 200


@dataclass(frozen=True)
class Closed:
    """An installation from the bundle, with a cache that holds what the bundle brought and nothing else."""

    bin: Path
    folder: Path

    def command(self, name: str, *arguments: str) -> list[str]:
        return [str(self.bin / name), *arguments]

    def run(self, words: list[str], place: Place | None = None, code: int = 0) -> str:
        """What it printed; nothing of this process's package indexes, caches and paths gets in."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        done = subprocess.run(
            place.command(words) if place else ["unshare", "--net", *words],
            cwd=self.folder,
            env={**kept, "HOME": str(self.folder), "SPARK_LOCAL_IP": "127.0.0.1", "PIP_NO_COMPILE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Closed:
    """`brokernat bundle` here, `pip install` and `brokernat bundle --install` there."""
    place = tmp_path_factory.mktemp("closed")
    bundle = place / "bundle"
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    subprocess.run(
        [sys.executable, "-m", "brokernat", "bundle", str(bundle), *extras],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=300,
    )
    there = Closed(place / "venv" / "bin", place)
    there.run([sys.executable, "-m", "venv", str(place / "venv")])
    wanted = f"brokernat[{','.join(EXTRAS)}]"
    there.run(there.command("pip", "install", "--no-index", "--find-links", str(bundle / "wheels"), wanted))
    there.run(there.command("brokernat", "bundle", "--install", str(bundle)))
    return there


def test_lines_are_shipped_and_read_back_by_spark(nginx_world: NetnsWorld, closed: Closed, topic_name: str) -> None:
    """Shipper, plug-in, Java client, connector and agent: all of them from the bundle."""
    nginx_world.hq.create_topic(topic_name)
    file = closed.folder / "brokernat.yaml"
    file.write_text(json.dumps({"clusters": {"hq": cluster_section(nginx_world.hq.cluster)}}))
    (closed.folder / "audit.log").write_text("".join(f"line {number}\n" for number in range(LINES)))
    about = ["--cluster", "hq", "--topic", topic_name]
    shipping = ["--spool", "spool", "--file", "audit.log", "--from-beginning", "--once"]
    small = ["--master", "local[2]", *(word for item in SMALL.items() for word in ("--conf", "=".join(item)))]

    closed.run(closed.command("brokernat", "ship", *about, *shipping), nginx_world.client)
    reading = ["pipeline", "reconcile", *about, "--format", "json", *small]
    (account,) = json.loads(closed.run(closed.command("brokernat", *reading), nginx_world.client))["sources"]

    assert (account["first"], account["last"], account["records"], account["missing"]) == (1, LINES, LINES, 0)
