from __future__ import annotations

import pytest

from brokernat.demo import story
from brokernat.errors import MissingToolError


def test_that_spark_is_missing_is_said_before_any_broker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "find_spec", lambda _: None)
    monkeypatch.setattr(story, "find_java", lambda: None)
    with pytest.raises(MissingToolError, match="needs PySpark"):
        next(story.tell())
