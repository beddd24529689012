"""Which driver a database needs, and what of its section may be shown; a database is in `tests/integration`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from brokernat.clients.spark.releases import SHA256
from brokernat.config import Secret
from brokernat.config.model import JdbcReference
from brokernat.errors import ConfigError, MissingToolError
from brokernat.pipelines.references import database as module
from brokernat.pipelines.references.database import DRIVERS, DatabaseSource, class_name, driver_jars


def section(url: str | Secret, **more: Any) -> JdbcReference:
    return JdbcReference(**{"url": url, "table": "customers", **more})


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("jdbc:postgresql://db/crm", "org.postgresql.Driver"),
        (Secret("jdbc:mysql:loadbalance://a,b/crm"), "com.mysql.cj.jdbc.Driver"),
        ("jdbc:mariadb://db/crm", "org.mariadb.jdbc.Driver"),
        ("jdbc:sqlserver://db;databaseName=crm", "com.microsoft.sqlserver.jdbc.SQLServerDriver"),
        ("jdbc:oracle:thin:@db:1521/crm", "oracle.jdbc.OracleDriver"),
    ],
)
def test_a_known_driver_need_not_be_named(url: str | Secret, name: str) -> None:
    assert class_name(section(url)) == name


def test_the_jars_of_known_drivers_have_sums() -> None:
    names = [each.coordinate.split(":")[1:] for each in DRIVERS.values()]
    assert {f"{artifact}-{version}.jar" for artifact, version in names} <= SHA256.keys()


def test_a_class_that_spark_has_needs_no_jar() -> None:
    given = section("jdbc:db2://db/crm", driver="com.ibm.db2.jcc.DB2Driver")
    assert (class_name(given), driver_jars(given)) == ("com.ibm.db2.jcc.DB2Driver", ())


def test_the_jar_of_another_driver_names_its_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "jcc-11.jar"
    with ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/services/java.sql.Driver", "com.ibm.db2.jcc.DB2Driver\n")
    monkeypatch.setattr(
        module, "resolve", lambda coordinates, transitive: (jar,) if coordinates == ["a:jcc:11"] else ()
    )
    assert class_name(section("jdbc:db2://db/crm", driver="a:jcc:11")) == "com.ibm.db2.jcc.DB2Driver"
    with ZipFile(jar, "w"):
        pass
    with pytest.raises(ConfigError, match=r"jcc-11\.jar names no JDBC driver"):
        class_name(section("jdbc:db2://db/crm", driver="a:jcc:11"))


def test_an_unknown_driver_and_bad_coordinates_are_refused_with_what_to_write() -> None:
    with pytest.raises(ConfigError, match="is not known") as caught:
        class_name(section("jdbc:db2://db/crm"))
    assert "`driver: group:artifact:version`" in (caught.value.hint or "")
    with pytest.raises(ConfigError, match="is not group:artifact:version"):
        driver_jars(section("jdbc:db2://db/crm", driver="a:b"))


def test_a_jar_that_cannot_be_had_is_named_with_the_way_around(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(coordinates: list[str], transitive: bool) -> None:
        raise MissingToolError(f"cannot resolve {coordinates[0]}")

    monkeypatch.setattr(module, "resolve", unreachable)
    with pytest.raises(MissingToolError, match=r"no driver for customers: cannot resolve org\.postgresql:") as caught:
        driver_jars(section("jdbc:postgresql://db/crm"))
    assert "spark.jars" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jdbc:postgresql://db:5432/crm?user=a&password=canary", "jdbc:postgresql://db:5432/crm"),
        ("jdbc:sqlserver://db;user=a;password=canary", "jdbc:sqlserver://db"),
        ("jdbc:mysql://a:canary@db/crm", "jdbc:mysql://db/crm"),
        (Secret("jdbc:postgresql://canary/crm"), "a database"),
    ],
)
def test_no_secret_is_shown_or_kept(url: str | Secret, shown: str) -> None:
    source = DatabaseSource(section(url, password=Secret("canary"), options={"sslpassword": Secret("canary")}))
    assert source.place == f"the table customers of {shown}"
    assert "canary" not in json.dumps(source.recipe())
    assert source.cause(ValueError("canary is wrong")) == "ValueError: *** is wrong"


def test_a_password_that_is_written_into_the_section_is_in_no_error() -> None:
    source = DatabaseSource(section("jdbc:postgresql://db/crm", user="app", password="canary"))
    assert source.cause(ValueError("canary is wrong for app")) == "ValueError: *** is wrong for app"


@pytest.mark.parametrize(
    ("url", "options"),
    [("jdbc:postgresql://db/crm?password=canary", {}), ("jdbc:postgresql://db/crm", {"sslPassword": "canary"})],
)
def test_a_password_in_plain_text_is_not_in_a_cause(url: str, options: dict[str, str]) -> None:
    assert (
        DatabaseSource(section(url, options=options)).cause(ValueError("canary is wrong")) == "ValueError: *** is wrong"
    )
