"""The words that load the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.address import AddressMap, Unmapped
from brokernat.errors import MissingToolError
from brokernat.jvm import agent, agent_argument, agent_jar, javaagent_option


def test_argument_and_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "agent_jar", lambda: Path("/somewhere/brokernat-agent.jar"))
    rules = AddressMap.parse("kafka-1:9092 = 10.0.0.1:9093, kafka-2 = 10.0.0.2", Unmapped.PASS)

    assert agent_argument(rules) == "kafka-1:9092=10.0.0.1:9093,kafka-2=10.0.0.2;unmapped=pass"
    assert javaagent_option(rules) == f"-javaagent:/somewhere/brokernat-agent.jar={agent_argument(rules)}"
    assert javaagent_option(None) == "-javaagent:/somewhere/brokernat-agent.jar"


def test_a_tree_without_the_jar_says_how_to_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "JAR", "not-built.jar")
    with pytest.raises(MissingToolError) as error:
        agent_jar()
    assert error.value.hint == "in the source tree: make agent"
