"""Turns evidence into a diagnosis: the findings, the root causes, and the client's path for the picture; pure."""

from __future__ import annotations

from brokernat.doctor.diagnosis.model import Cause, Diagnosis, Skipped
from brokernat.doctor.diagnosis.run import Suppression, diagnose

__all__ = ["Cause", "Diagnosis", "Skipped", "Suppression", "diagnose"]
