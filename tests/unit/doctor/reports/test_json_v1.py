"""The report for programs: its shape is promised, so what is here today stays."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import FEW, WITHOUT_MAP, mapped, refused

from brokernat.doctor.diagnosis import Suppression, diagnose
from brokernat.doctor.evidence import BrokerFile, Evidence, ExecutorSeen, ListenerSeen, NodeTried
from brokernat.doctor.reports.json_v1 import ReportV1, finding_v1, json_v1, schema_v1

TRIED = NodeTried(1, "192.168.1.23:9092", "172.10.1.40:9093", "unreachable", "refused")
ON_SPARK = replace(
    WITHOUT_MAP,
    executors=(ExecutorSeen("1", "w1", "answered", "", "0.1.0", "ab12", (TRIED,)), ExecutorSeen("", "", "silent")),
)


WITH_LISTENERS = replace(
    WITHOUT_MAP,
    listeners=(
        ListenerSeen(1, "BOB", "kafka0:29092", refused("kafka0:29092")),
        ListenerSeen(1, "FRED", "localhost:9092", WITHOUT_MAP.bootstraps[0], ("172.10.1.40:9093",)),
        ListenerSeen(1, "ALICE", ":0", None),
    ),
)
WITH_FILES = replace(
    WITHOUT_MAP,
    bootstraps=(),
    paths=(),
    files=(
        BrokerFile(
            "server.properties", (("listeners", "A://:9092"), ("advertised.listeners", "A://kafka.example:9092"))
        ),
    ),
)


def test_json(snapshot: SnapshotAssertion) -> None:
    assert json_v1(diagnose(mapped({1: 1, 2: 2}), FEW)) == snapshot


@pytest.mark.parametrize(
    "evidence",
    [
        WITHOUT_MAP,
        mapped({1: 2, 2: 1, 3: 3}),
        replace(WITHOUT_MAP, bootstraps=(refused("a:1"),), paths=(), replicas=None),
        ON_SPARK,
        WITH_LISTENERS,
        WITH_FILES,
    ],
)
def test_what_is_printed_is_of_the_shape(evidence: Evidence) -> None:
    printed = json.dumps(json_v1(diagnose(evidence, suppressions=[Suppression.parse("BN202")])))
    assert json.loads(ReportV1.model_validate_json(printed, strict=True).model_dump_json()) == json.loads(printed)


def test_a_suppressed_finding_is_there_and_decides_nothing() -> None:
    report = json_v1(diagnose(WITHOUT_MAP, suppressions=[Suppression.parse("BN302"), Suppression.parse("BN202")]))
    assert report["status"] == "ok"
    assert report["root_cause"] is None
    assert {each["code"] for each in report["suppressed"]} == {"BN302", "BN202"}
    assert [each["state"] for each in report["nodes"]] == ["broken"] * 3


def test_a_finding_alone_has_the_same_shape() -> None:
    found = diagnose(WITHOUT_MAP)
    assert finding_v1(found.findings[0]) == json_v1(found)["findings"][0]


def test_the_schema_describes_every_key() -> None:
    schema: dict[str, Any] = json.loads(schema_v1())
    assert set(schema["required"]) == set(schema["properties"]) == set(json_v1(diagnose(WITHOUT_MAP)))
    assert "FindingV1" in schema["$defs"]
    assert "additionalProperties" not in schema_v1(), "a reader skips keys that it does not know"


def test_listeners_and_files_are_told() -> None:
    listeners = json_v1(diagnose(WITH_LISTENERS))["listeners"]
    assert [(each["name"], each["words"]) for each in listeners] == [
        ("BOB", "refused"),
        ("FRED", "ok"),
        ("ALICE", "not dialled"),
    ]
    (told,) = json_v1(diagnose(WITH_FILES))["listeners_in_files"]
    assert told["is_told"][0]["where"] == "anywhere"
