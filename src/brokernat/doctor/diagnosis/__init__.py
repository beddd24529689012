"""Evidence to a diagnosis: the findings, the root causes among them, and the way of a client to draw; pure."""

from __future__ import annotations

from brokernat.doctor.diagnosis.model import Cause, Diagnosis, Skipped
from brokernat.doctor.diagnosis.run import Suppression, diagnose

__all__ = ["Cause", "Diagnosis", "Skipped", "Suppression", "diagnose"]
