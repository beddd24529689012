from __future__ import annotations

import sys

import pytest

from brokernat.demo import script
from brokernat.errors import MissingToolError


def test_that_spark_is_missing_is_said_before_any_broker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.version", None)
    monkeypatch.setattr(script, "find_java", lambda: None)
    with pytest.raises(MissingToolError, match="PySpark is not installed"):
        next(script.run_demo())
