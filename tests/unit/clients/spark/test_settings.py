"""What is put on the builder, and what of the user's own survives."""

import re
from pathlib import Path

import pytest

from brokernat.clients.spark.settings import Loader, LoaderChoice, joined, settings

JAR = Path("/opt/brokernat-agent.jar")
JAVAAGENT = LoaderChoice(Loader.JAVAAGENT, "", JAR, "/agents/a.jar")
REPORTER = LoaderChoice(Loader.REPORTER, "", JAR, str(JAR))
CONNECTOR = (Path("/cache/connector.jar"), Path("/cache/kafka-clients-3.9.2.jar"))


def test_javaagent_gives_both_kinds_of_jvm_their_own_path() -> None:
    found = settings({}, JAVAAGENT, CONNECTOR)
    assert found["spark.driver.defaultJavaOptions"] == "-javaagent:/opt/brokernat-agent.jar"
    assert found["spark.executor.defaultJavaOptions"] == "-javaagent:/agents/a.jar"
    assert found["spark.jars"] == "/cache/connector.jar,/cache/kafka-clients-3.9.2.jar"
    assert found["spark.brokernat.loader"] == "javaagent"


def test_the_reporter_ships_the_jar_and_allows_the_attach() -> None:
    found = settings({}, REPORTER, CONNECTOR)
    assert found["spark.jars"].endswith(",/opt/brokernat-agent.jar")
    assert found["spark.driver.defaultJavaOptions"] == "-XX:+EnableDynamicAgentLoading"
    assert found["spark.executor.defaultJavaOptions"] == "-XX:+EnableDynamicAgentLoading"


def test_yarn_puts_the_jar_where_the_option_of_a_container_finds_it() -> None:
    choice = LoaderChoice(Loader.JAVAAGENT, "", JAR, JAR.name)
    found = settings({"spark.yarn.dist.files": "rules.txt"}, choice, CONNECTOR)
    assert found["spark.yarn.dist.files"] == "rules.txt,/opt/brokernat-agent.jar"
    assert found["spark.executor.defaultJavaOptions"] == "-javaagent:brokernat-agent.jar"
    assert found["spark.driver.defaultJavaOptions"] == "-javaagent:/opt/brokernat-agent.jar"
    assert settings(found, choice, CONNECTOR) == found, "a second time changes nothing"
    assert "spark.yarn.dist.files" not in settings({}, JAVAAGENT, CONNECTOR)


def test_what_the_user_set_stays_and_comes_first() -> None:
    present = {
        "spark.jars": "/mine.jar,/cache/connector.jar",
        "spark.driver.defaultJavaOptions": "-Dmine=1",
        "spark.redaction.regex": "mine",
        "spark.speculation": "true",
    }
    found = settings(present, JAVAAGENT, CONNECTOR)
    assert found["spark.jars"] == "/mine.jar,/cache/connector.jar,/cache/kafka-clients-3.9.2.jar"
    assert found["spark.driver.defaultJavaOptions"] == "-Dmine=1 -javaagent:/opt/brokernat-agent.jar"
    assert found["spark.redaction.regex"].startswith("mine|")
    assert found["spark.speculation"] == "true"
    assert settings(present | found, JAVAAGENT, CONNECTOR) == found, "a second time changes nothing"


def test_a_path_with_blanks_stays_one_word() -> None:
    choice = LoaderChoice(Loader.JAVAAGENT, "", Path("/my apps/agent.jar"), "/my apps/agent.jar")
    assert settings({}, choice, ())["spark.driver.defaultJavaOptions"] == '"-javaagent:/my apps/agent.jar"'


def test_no_jars_setting_where_nothing_is_shipped() -> None:
    assert "spark.jars" not in settings({}, JAVAAGENT, ())


@pytest.mark.parametrize("setting", ["spark.redaction.regex", "spark.sql.redaction.options.regex"])
@pytest.mark.parametrize("name", ["kafka.sasl.jaas.config", "kafka.ssl.keystore.key"])
def test_names_that_hold_secrets_are_redacted(setting: str, name: str) -> None:
    assert re.search(settings({}, REPORTER, ())[setting], name)


@pytest.mark.parametrize("name", ["kafka.ssl.truststore.password", "spark.ssl.keyPassword", "my.secret"])
def test_spark_s_own_pattern_is_kept(name: str) -> None:
    assert re.search(settings({}, REPORTER, ())["spark.redaction.regex"], name)


def test_joined() -> None:
    assert joined("", ["a", "b", "a"], ",") == "a,b"
    assert joined("b", ["a", "b"], ",") == "b,a"
