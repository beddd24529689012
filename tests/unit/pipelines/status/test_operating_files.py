"""`examples/operating` against the metrics that exist, and against the program that its files start."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from ruamel.yaml import YAML
from tests.unit.pipelines.status.runs import START, running

from brokernat.cli.pipeline import run
from brokernat.config import load
from brokernat.pipelines.status.prometheus import metrics

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "examples/operating"
YAML_READER = YAML(typ="safe", pure=True)
LABELS = {
    m.name: {"pipeline", *(label for labels, _ in m.values for label in labels)} for m in metrics(running(), START)
}
FROM_PROMETHEUS = {"instance", "job", "up"}


def documents() -> list[Any]:
    return list(YAML_READER.load_all((FOLDER / "kubernetes.yaml").read_text()))


def expressions() -> dict[str, str]:
    """Every expression of both files, by the panel or the alert."""
    rules = YAML_READER.load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    found = {rule["alert"]: rule["expr"] for rule in rules}
    return found | {f"{p['title']} {t['refId']}": t["expr"] for p in panels for t in p["targets"]}


@pytest.mark.parametrize(("name", "expression"), expressions().items(), ids=expressions())
def test_each_expression_asks_for_metrics_and_labels_that_exist(name: str, expression: str) -> None:
    used = set(re.findall(r"\bbrokernat_\w+", expression))
    assert used <= LABELS.keys()
    known = set().union(*(LABELS[metric] for metric in used)) | FROM_PROMETHEUS
    grouped = re.findall(r"\b(?:by|ignoring|without) \(([\w, ]+)\)", expression)
    selected = re.findall(r"[{,]\s*(\w+)\s*(?:=~?|!=|!~)", expression)
    assert {label.strip() for group in grouped for label in group.split(",")} | set(selected) <= known


def test_grafana_knows_every_field_of_the_dashboard() -> None:
    """By the models that Grafana makes of its schemas: they leave out what is in none."""
    register_default_plugins()
    written = json.loads((FOLDER / "dashboard.json").read_text())
    assert not list(left_out(written, json.loads(JSONEncoder().encode(Dashboard.from_json(written)))))


def left_out(written: Any, read: Any, path: str = "") -> Iterator[str]:
    if isinstance(written, dict) and isinstance(read, dict):
        for name, value in written.items():
            yield from left_out(value, read.get(name), f"{path}.{name}")
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for place, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from left_out(one, other, f"{path}[{place}]")
    elif written != read:
        yield path


def test_texts_name_labels_that_their_expression_leaves() -> None:
    for rule in YAML_READER.load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]:
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        kept = re.match(r"(?:sum|count) by \(([\w, ]+)\)", rule["expr"])
        used = set().union(*(LABELS[m] for m in re.findall(r"\bbrokernat_\w+", rule["expr"])), FROM_PROMETHEUS)
        assert named <= (set(kept[1].split(", ")) if kept else used), rule["alert"]


def test_every_metric_is_in_the_guide() -> None:
    guide = (ROOT / "docs/guides/operating.md").read_text()
    for metric in LABELS:
        assert metric in guide or f"…_{metric.removeprefix('brokernat_partition_')}" in guide, metric


def test_the_panels_lie_beside_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_the_unit_and_the_pod_start_the_program_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = (FOLDER / "brokernat-pipeline.service").read_text()
    started = re.search(r"^ExecStart=\S+/brokernat pipeline run (.+)$", unit, re.MULTILINE)
    assert started
    configuration, _, deployment = documents()
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    for arguments in (started[1].split(), container["args"][3:]):
        context = run.make_context("run", arguments)
        assert (context.params["name"], context.params["listen"].port) == ("tags", 8088)
    assert container["ports"] == [{"name": "status", "containerPort": 8088}]
    assert {container[p]["httpGet"]["path"] for p in ("startupProbe", "livenessProbe")} == {"/health"}
    monkeypatch.setenv("HQ_USER", "app")
    monkeypatch.setenv("HQ_PASSWORD", "x")
    (tmp_path / "brokernat.yaml").write_text(configuration["data"]["brokernat.yaml"])
    checkpoint = load(tmp_path / "brokernat.yaml").pipeline("tags").checkpoint
    (mount,) = (each for each in container["volumeMounts"] if each["name"] == "checkpoint")
    assert checkpoint.startswith(mount["mountPath"])
