"""The whole plan: what is injected for a kind, what is missing, what is said."""

from pathlib import Path

import pytest
from tests.unit.clients.launch.conftest import MakeProgram, cluster, elf

from brokernat.address import Unmapped
from brokernat.clients import librdkafka
from brokernat.clients.launch import Launch, plan
from brokernat.config import Cluster
from brokernat.errors import ConfigError, MissingToolError

AGENT = Path("/opt/brokernat-agent.jar")


@pytest.fixture(autouse=True)
def _built(preload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brokernat.jvm.agent.agent_jar", lambda: AGENT)


def names(launch: Launch) -> set[str]:
    return {change.name for change in launch.changes}


def said(launch: Launch) -> str:
    return "\n".join(map(str, launch.notes))


def test_a_kind_gets_only_what_reaches_it(program: MakeProgram, hq: Cluster) -> None:
    java = plan([str(program("java", "#!/bin/sh\n"))], [hq], {"KEPT": "yes"})
    assert names(java) == {"JAVA_TOOL_OPTIONS"}
    assert java.environment["KEPT"] == "yes"
    kcat = plan([str(program("kcat", elf(needed=["librdkafka.so.1"])))], [hq], {})
    assert names(kcat) == {"LD_PRELOAD", "BROKERNAT_MAP", "BROKERNAT_UNMAPPED"}
    shell = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {})
    assert names(shell) == {*names(java), *names(kcat), "PYTHONPATH"}


def test_an_outer_map_is_taken_away_where_the_kind_needs_none_of_it(program: MakeProgram, hq: Cluster) -> None:
    outer = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {}).environment
    inner = plan([str(program("java", "#!/bin/sh\n"))], [hq], outer)
    assert inner.environment.keys() == {"JAVA_TOOL_OPTIONS"}
    assert {change.name for change in inner.changes if change.value is None} == {
        "LD_PRELOAD", "PYTHONPATH", "BROKERNAT_MAP", "BROKERNAT_UNMAPPED",
    }  # fmt: skip


def test_a_library_that_is_not_built(program: MakeProgram, hq: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise MissingToolError("not built", hint="make plugin")

    monkeypatch.setattr(librdkafka, "preload_library", missing)
    launch = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {})
    assert "warning: programs with librdkafka are not served: not built" in said(launch)
    assert "JAVA_TOOL_OPTIONS" in names(launch)
    with pytest.raises(MissingToolError, match="not built"):
        plan([str(program("kcat", elf(needed=["librdkafka.so.1"])))], [hq], {})


@pytest.mark.parametrize(("asked", "end"), [(None, "unmapped=fail"), (Unmapped.PASS, "unmapped=pass")])
def test_what_becomes_of_unnamed_addresses(program: MakeProgram, hq: Cluster, asked: Unmapped | None, end: str) -> None:
    launch = plan([str(program("java", "#!/bin/sh\n"))], [hq], {}, unmapped=asked)
    assert launch.environment["JAVA_TOOL_OPTIONS"].endswith(end)
    assert end in said(launch)


def test_a_cluster_without_a_map_still_has_a_login_to_give(program: MakeProgram) -> None:
    local = cluster("local", None)
    topics = str(program("kafka-topics.sh", "#!/bin/sh\nkafka-run-class.sh\n"))
    with pytest.raises(ConfigError, match="no address map to bring in: local has none"):
        plan([topics], [local], {})
    launch = plan([topics], [local], {}, with_client_properties=True)
    assert launch.environment == {}
    assert launch.command[1:3] == ("--command-config", "/proc/self/fd/30")


def test_no_secret_in_words_or_environment(program: MakeProgram, hq: Cluster) -> None:
    topics = str(program("kafka-topics.sh", "#!/bin/sh\nkafka-run-class.sh\n"))
    launch = plan([topics], [hq], {}, with_client_properties=True)
    assert "canary" in launch.files[0].text
    assert "canary" not in repr(launch) + said(launch)


def test_a_path_for_executors_that_nobody_takes(program: MakeProgram, hq: Cluster) -> None:
    launch = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {}, agent_path="/agents/a.jar")
    assert "warning: --agent-path is not used" in said(launch)
