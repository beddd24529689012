"""`examples/operating` in Prometheus' own tester, Debian's `promtool`: which alert fires when, what panels find."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.unit.pipelines.status.runs import START, running

from brokernat.pipelines.status.prometheus import metrics_text

pytestmark = pytest.mark.netns

FOLDER = Path(__file__).resolve().parents[2] / "examples/operating"
RULES = FOLDER / "alerts.yaml"
LABELS = 'instance="here:8088",job="brokernat",pipeline="tags"'
RECEIVED = f"brokernat_records_received_total{{{LABELS}}}"
DEAD = f'brokernat_dead_letters_total{{{LABELS},cause="WrongType"}}'
LAG = f'brokernat_partition_lag{{{LABELS},topic="orders",partition="0"}}'

# A value each minute; what fires after 40 minutes.
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "all is well": (
        {
            'up{job="brokernat",instance="here:8088"}': "1x60",
            f"brokernat_healthy{{{LABELS}}}": "1x60",
            f"brokernat_starts_total{{{LABELS}}}": "7x60",
            # Two failures that were over after the second attempt.
            f"brokernat_query_failures_total{{{LABELS}}}": "0x20 1 2x40",
            RECEIVED: "0+60000x60",
            DEAD: "0+500x60",
            LAG: "5000x60",
            f'brokernat_reference_age_seconds{{{LABELS},reference="customers"}}': "0+60x60",
            f'brokernat_reference_unusable{{{LABELS},reference="customers"}}': "0x20 1x10 0x30",
            f'brokernat_address_map_info{{{LABELS},cluster="hq",executor="1",fingerprint="a"}}': "1x60",
            f'brokernat_address_map_info{{{LABELS},cluster="local",executor="1",fingerprint=""}}': "1x60",
        },
        set(),
    ),
    "away": ({'up{job="brokernat",instance="here:8088"}': "0x60"}, {"PipelineAway"}),
    "stalled": ({f"brokernat_healthy{{{LABELS}}}": "1x30 0x30"}, {"PipelineUnhealthy"}),
    "a short start": ({f"brokernat_healthy{{{LABELS}}}": "1x36 0 0 1x30"}, set()),
    "restarts": ({f"brokernat_starts_total{{{LABELS}}}": "7x20 8 9 10 11 12x30"}, {"PipelineRestarts"}),
    "brokers away": ({f"brokernat_query_failures_total{{{LABELS}}}": "0x20 0+1x40"}, {"QueryFails"}),
    "falls behind": ({RECEIVED: "0+60x60", LAG: "0+600x60"}, {"PipelineFallsBehind"}),
    "nothing comes out any more": ({RECEIVED: "900x60", LAG: "100x60"}, {"PipelineFallsBehind"}),
    "dead letters": ({RECEIVED: "0+6000x60", DEAD: "0+61x60"}, {"DeadLetters"}),
    "an old reference": (
        {f'brokernat_reference_age_seconds{{{LABELS},reference="customers"}}': "172000+60x60"},
        {"ReferenceOld"},
    ),
    "a reference that is away": (
        {f'brokernat_reference_unusable{{{LABELS},reference="customers"}}': "0x20 1x40"},
        {"ReferenceUnusable"},
    ),
    "two maps": (
        {
            f'brokernat_address_map_info{{{LABELS},cluster="hq",executor="{n}",fingerprint="{n}"}}': "1x60"
            for n in range(2)
        },
        {"OtherAddressMap"},
    ),
}


def promtool(*words: str, folder: Path) -> str:
    ended = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def names() -> set[str]:
    lines = RULES.read_text().splitlines()
    return {line.split(": ")[1] for line in lines if line.strip().startswith("- alert: ")}


def test_every_alert_is_provoked_by_a_case() -> None:
    assert set().union(*(fires for _, fires in CASES.values())) == names()


def test_the_rules_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    assert "SUCCESS: 9 rules found" in promtool("check", "rules", str(RULES), folder=tmp_path)
    tests = [
        {
            "name": case,
            "interval": "1m",
            "input_series": [{"series": series, "values": values} for series, values in given.items()],
            # How many of each alert: labels and texts are the rules' own.
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0)',
                    "eval_time": "40m",
                    "exp_samples": [{"labels": "{}", "value": int(name in fires)}],
                }
                for name in sorted(names())
            ],
        }
        for case, (given, fires) in CASES.items()
    ]
    (tmp_path / "tests.yaml").write_text(json.dumps({"rule_files": [str(RULES)], "tests": tests}))
    promtool("test", "rules", "tests.yaml", folder=tmp_path)


def test_every_expression_of_a_panel_finds_something_in_what_a_run_serves(tmp_path: Path) -> None:
    found = [s for f in text_string_to_metric_families(metrics_text(running(), START)) for s in f.samples]
    series = {f"{s.name}{{{','.join(f'{name}={json.dumps(s.labels[name])}' for name in s.labels)}}}" for s in found}
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    # What Grafana puts in their place.
    expressions = [each.replace("$pipeline", "tags").replace("$__rate_interval", "5m") for each in asked]
    test = {
        "interval": "1m",
        "input_series": [{"series": each, "values": "0+60x60"} for each in sorted(series)],
        "promql_expr_test": [
            {"expr": f"count({each}) > bool 0", "eval_time": "40m", "exp_samples": [{"labels": "{}", "value": 1}]}
            for each in expressions
        ],
    }
    (tmp_path / "tests.yaml").write_text(json.dumps({"tests": [test]}))
    promtool("test", "rules", "tests.yaml", folder=tmp_path)
