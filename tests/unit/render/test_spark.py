"""Lines of spark-defaults.conf."""

from __future__ import annotations

from collections.abc import Callable

from syrupy.assertion import SnapshotAssertion

from brokernat.address import canonical_text
from brokernat.render import Subject, spark


def test_file(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert spark(about(), agent_path="/opt/brokernat/brokernat-agent.jar") == snapshot


def test_a_path_with_a_blank_is_one_word_for_spark(about: Callable[..., Subject]) -> None:
    text = spark(about(), agent_path="/opt/my jars/agent.jar")
    option = f'"-javaagent:/opt/my jars/agent.jar={canonical_text(about().address_map)}"'
    assert text.count(f"JavaOptions {option}\n") + text.count(f"JavaOptions   {option}\n") == 2
