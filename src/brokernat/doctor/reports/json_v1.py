"""The diagnosis for programs, version 1. The shape is written out here, so that no inner change reaches a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brokernat.doctor.evidence import ExecutorSeen
    from brokernat.doctor.finding import Finding
    from brokernat.doctor.runner import Diagnosis


def json_v1(diagnosis: Diagnosis) -> dict[str, Any]:
    """What `--format json` prints."""
    cause = diagnosis.cause
    return {
        "version": 1,
        "cluster": diagnosis.evidence.cluster,
        "taken_at": diagnosis.evidence.taken_at,
        "root_cause": None if cause is None else {"code": cause.code, "sentence": cause.sentence},
        "findings": [finding_v1(finding) for finding in diagnosis.findings],
        "passed": list(diagnosis.passed),
        "skipped": [{"code": each.code, "title": each.title, "reason": each.reason} for each in diagnosis.skipped],
        "executors": [_executor(each) for each in diagnosis.evidence.executors],
    }


def finding_v1(finding: Finding) -> dict[str, Any]:
    """One finding, wherever a command prints one."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "subject": finding.subject,
        "message": finding.message,
        "evidence": list(finding.evidence),
        "because": list(finding.because),
        "remedy": {
            "client": list(finding.remedy.client),
            "broker": list(finding.remedy.broker),
            "rules": list(finding.remedy.rules),
        },
    }


def _executor(seen: ExecutorSeen) -> dict[str, Any]:
    return {
        "executor": seen.executor,
        "host": seen.host,
        "outcome": seen.outcome,
        "detail": seen.detail,
        "agent": seen.agent,
        "fingerprint": seen.fingerprint,
        "nodes": [
            {
                "node_id": node.node_id,
                "advertised": node.advertised,
                "dialled": node.dialled,
                "outcome": node.outcome,
                "detail": node.detail,
            }
            for node in seen.nodes
        ],
    }
