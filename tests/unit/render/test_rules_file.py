"""A rules file is read back as the same map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.errors import NotExpressibleError
from brokernat.map_text import read_rules_file
from brokernat.render import Subject, rules_file


def test_read_back(about: Callable[..., Subject], tmp_path: Path) -> None:
    subject = about("[fd00::1]:9092 = gw:1, *.hq = gw, 10.1.0.0/24 = 10.9.0.0/24")
    (tmp_path / "rules").write_text(rules_file(subject))
    assert read_rules_file(tmp_path / "rules") == subject.address_map


def test_a_template_is_refused(about: Callable[..., Subject]) -> None:
    with pytest.raises(NotExpressibleError, match="only a Kafka-aware proxy knows the node id"):
        rules_file(about("*.hq:1 = gw:{1+id}"))
