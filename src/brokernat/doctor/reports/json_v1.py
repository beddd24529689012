"""The diagnosis for programs, version 1. The shape is written out here, so that no inner change reaches a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brokernat.doctor.runner import Diagnosis


def json_v1(diagnosis: Diagnosis) -> dict[str, Any]:
    """What `--format json` prints."""
    cause = diagnosis.cause
    return {
        "version": 1,
        "cluster": diagnosis.evidence.cluster,
        "taken_at": diagnosis.evidence.taken_at,
        "root_cause": None if cause is None else {"code": cause.code, "sentence": cause.sentence},
        "findings": [
            {
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
            for finding in diagnosis.findings
        ],
        "passed": list(diagnosis.passed),
        "skipped": [{"code": each.code, "title": each.title, "reason": each.reason} for each in diagnosis.skipped],
    }
