"""Spark drivers in processes of their own: a scenario's wishes go in as JSON, what it found comes back as JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.integration.spark.standalone import SHORT_LIVED

from brokernat.config import Cluster, Secret

SCENARIOS = Path(__file__).with_name("scenarios.py")
COUNT = 30
VALUES = sorted(f"order {number}" for number in range(COUNT))


def described(cluster: Cluster, *, rules: str | None = "own", unmapped: str | None = None) -> dict[str, Any]:
    """A cluster as JSON for a scenario; `rules` replaces its map, None takes it away."""
    address_map = cluster.address_map
    if rules == "own":
        rules = str(address_map) if address_map is not None else None
    client = {name: value.reveal() if isinstance(value, Secret) else value for name, value in cluster.client.items()}
    return {
        "name": cluster.name,
        "bootstrap_servers": [str(server) for server in cluster.bootstrap_servers],
        "map": rules,
        "unmapped": unmapped or (address_map.unmapped.value if address_map is not None else "fail"),
        "client": client,
    }


class Driver:
    """Runs scenarios; keeps what they printed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.output = ""

    def run(
        self,
        scenario: str,
        clusters: list[dict[str, Any]],
        *,
        master: str = "local[2]",
        loader: str = "auto",
        agent_path: str | None = None,
        settings: dict[str, str] | None = None,
        topic: str = "",
        python: str = sys.executable,
        environ: dict[str, str] | None = None,
        timeout: float = 420,
        **extra: Any,
    ) -> dict[str, Any]:
        """What the scenario found."""
        process = self.start(scenario, clusters, master=master, loader=loader, agent_path=agent_path, settings=settings,
                             topic=topic, python=python, environ=environ, **extra)  # fmt: skip
        return self.finish(process, timeout)

    def start(self, scenario: str, clusters: list[dict[str, Any]], **wishes: Any) -> subprocess.Popen[str]:
        """The same in two steps, for a test that acts in between."""
        python, environ = wishes.pop("python", sys.executable), wishes.pop("environ", None) or {}
        known = {name: wishes.pop(name, None) for name in ("master", "loader", "agent_path", "settings", "topic")}
        extra = {"checkpoint": str(self.directory / "checkpoint"), "gate": str(self.directory), **wishes}
        stdin = json.dumps({
            "clusters": clusters, "master": known["master"] or "local[2]", "loader": known["loader"] or "auto",
            "agent_path": known["agent_path"], "settings": SHORT_LIVED | (known["settings"] or {}),
            "topic": known["topic"] or "", "extra": extra,
        })  # fmt: skip
        (self.directory / "stdin.json").write_text(stdin)
        with (self.directory / "stdin.json").open() as source, (self.directory / "output").open("w") as output:
            return subprocess.Popen(
                [python, str(SCENARIOS), scenario, str(self.directory / "answer.json")],
                stdin=source, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=self.directory,
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environ},
            )  # fmt: skip

    def finish(self, process: "subprocess.Popen[str]", timeout: float = 420) -> dict[str, Any]:
        """Wait and read what was found."""
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            code = None
        self.output = (self.directory / "output").read_text(errors="replace")
        assert code == 0, self.output[-6000:]
        found: dict[str, Any] = json.loads((self.directory / "answer.json").read_text())
        return found
