"""The choice of the loader: a table of masters and wishes."""

from pathlib import Path

import pytest

from brokernat.clients.spark.settings import Loader, choose_loader
from brokernat.errors import ConfigError

JAR = Path("/opt/brokernat-agent.jar")


@pytest.mark.parametrize(
    ("master", "asked", "agent_path", "loader", "executor_agent", "reason"),
    [
        ("local", Loader.AUTO, None, Loader.JAVAAGENT, str(JAR), "on this machine"),
        ("local[2,4]", Loader.AUTO, None, Loader.JAVAAGENT, str(JAR), "on this machine"),
        ("local-cluster[2,1,1024]", Loader.AUTO, None, Loader.JAVAAGENT, str(JAR), "on this machine"),
        ("spark://m:7077", Loader.AUTO, None, Loader.REPORTER, str(JAR), "other hosts"),
        ("yarn", Loader.AUTO, None, Loader.JAVAAGENT, JAR.name, "each container"),
        ("yarn", Loader.JAVAAGENT, None, Loader.JAVAAGENT, JAR.name, "asked for"),
        ("yarn", Loader.REPORTER, None, Loader.REPORTER, str(JAR), "asked for"),
        ("yarn", Loader.AUTO, "/agents/a.jar", Loader.JAVAAGENT, "/agents/a.jar", "/agents/a.jar"),
        ("k8s://h", Loader.AUTO, None, Loader.REPORTER, str(JAR), "other hosts"),
        ("k8s://h", Loader.AUTO, "/agents/a.jar", Loader.JAVAAGENT, "/agents/a.jar", "/agents/a.jar"),
        ("spark://m:7077", Loader.JAVAAGENT, "/agents/a.jar", Loader.JAVAAGENT, "/agents/a.jar", "/agents/a.jar"),
        ("local[2]", Loader.REPORTER, None, Loader.REPORTER, str(JAR), "asked for"),
        ("spark://m:7077", Loader.REPORTER, "/agents/a.jar", Loader.REPORTER, str(JAR), "asked for"),
    ],
)
def test_javaagent_only_where_the_path_is_certain(
    master: str, asked: Loader, agent_path: str | None, loader: Loader, executor_agent: str, reason: str
) -> None:
    choice = choose_loader(master, asked, JAR, agent_path)
    assert (choice.loader, choice.executor_agent, choice.driver_agent) == (loader, executor_agent, JAR)
    assert reason in choice.reason


def test_a_driver_that_runs_without_the_agent_attaches_it_on_yarn_too() -> None:
    """Under spark-submit nobody has asked for the option yet."""
    assert choose_loader("yarn", Loader.AUTO, JAR, too_late=True).loader is Loader.REPORTER
    assert choose_loader("yarn", Loader.JAVAAGENT, JAR, too_late=True).loader is Loader.JAVAAGENT


@pytest.mark.parametrize("master", ["local[2]", "spark://m:7077"])
def test_a_relative_path_is_refused_with_what_it_would_do(master: str) -> None:
    with pytest.raises(ConfigError, match="restart for ever"):
        choose_loader(master, Loader.AUTO, JAR, "./brokernat-agent.jar")


def test_javaagent_on_other_hosts_needs_to_know_where_the_jar_is() -> None:
    with pytest.raises(ConfigError, match="executors' hosts is not known") as caught:
        choose_loader("spark://m:7077", Loader.JAVAAGENT, JAR)
    assert "agent_path=" in (caught.value.hint or "")
