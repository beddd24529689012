"""The diagnosis for programs, version 1: filled into the shape that is promised."""

from __future__ import annotations

from typing import Any

from brokernat.doctor.broker_files.listener_table import listener_table
from brokernat.doctor.checks import catalogue, page
from brokernat.doctor.diagnosis import Cause, Diagnosis
from brokernat.doctor.finding import CheckFinding
from brokernat.doctor.reports.shape_v1 import (
    BootstrapServerV1,
    ExecutorV1,
    FindingV1,
    ListenerInFilesV1,
    ListenerV1,
    NodeV1,
    RemedyV1,
    ReportV1,
    RootCause,
    SkippedV1,
)
from brokernat.doctor.reports.summary import verdict, worst


def json_v1(diagnosis: Diagnosis) -> dict[str, Any]:
    """What `--format json` prints."""
    gravest = worst(diagnosis)
    report = ReportV1(
        version=1,
        cluster=diagnosis.evidence.cluster,
        taken_at=diagnosis.evidence.taken_at,
        status="ok" if gravest is None else gravest.value,
        verdict=verdict(diagnosis),
        root_cause=diagnosis.cause and _cause(diagnosis.cause),
        root_causes=tuple(map(_cause, diagnosis.causes)),
        findings=tuple(map(_shaped, diagnosis.findings)),
        suppressed=tuple(map(_shaped, diagnosis.suppressed)),
        passed=diagnosis.passed,
        skipped=tuple(map(SkippedV1.model_validate, diagnosis.skipped)),
        bootstrap_servers=tuple(map(BootstrapServerV1.model_validate, diagnosis.entrances)),
        nodes=tuple(map(NodeV1.model_validate, diagnosis.routes)),
        listeners=tuple(map(ListenerV1.model_validate, diagnosis.listeners)),
        listeners_in_files=tuple(map(ListenerInFilesV1.model_validate, listener_table(diagnosis.evidence))),
        executors=tuple(map(ExecutorV1.model_validate, diagnosis.evidence.executors)),
    )
    return report.model_dump(mode="json")


def finding_v1(finding: CheckFinding) -> dict[str, Any]:
    """One finding, wherever a command prints one."""
    return _shaped(finding).model_dump(mode="json")


def _cause(cause: Cause) -> RootCause:
    return RootCause(code=cause.code, sentence=cause.sentence, doc=page(cause.code))


def _shaped(finding: CheckFinding) -> FindingV1:
    return FindingV1(
        code=finding.code,
        title=catalogue()[finding.code].title,
        severity=finding.severity.value,
        confidence=finding.confidence.value,
        subject=finding.subject,
        message=finding.message,
        evidence=finding.details,
        because=finding.because,
        remedy=RemedyV1.model_validate(finding.remedy),
        doc=page(finding.code),
    )
