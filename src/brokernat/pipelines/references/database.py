"""A table of a database as a reference, over JDBC.

Spark's JDBC source reads the rows with one connection, so they are consistent. The driver queries the version over a
connection with the same driver, login and options, and not with a Spark job: in Real-Time Mode every task slot reads a
partition, and a job would wait for the end of the epoch.

Spark shows a JDBC relation as `JDBCRelation(table)`, without its options, so the password is in no plan. It is removed
from messages of drivers, which may quote a URL.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.connector import verify
from brokernat.clients.spark.session import class_visible
from brokernat.config import Secret
from brokernat.config.client_properties import secrets_of
from brokernat.config.model import JdbcReference
from brokernat.config.secrets import masked
from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.jvm import resolve
from brokernat.pipelines.references.source import ReferenceSource, SourceVersion, UnusableReferenceError
from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SUBPROTOCOL = re.compile(r"jdbc:(?:\w+:)??(postgresql|mysql|mariadb|sqlserver|oracle)\b")
_URL_SECRETS = re.compile(r"[?;].*|(?<=//)[^/@]*@", re.DOTALL)
_SERVICES = "META-INF/services/java.sql.Driver"
_FETCH_SIZE = {"fetchsize": "10000"}
"""Rows per round trip; by default PostgreSQL's driver keeps the whole result in memory."""


@dataclass(frozen=True, slots=True)
class KnownDriver:
    """A built-in driver. `options` set time-outs, so that a dead connection does not block a run."""

    class_name: str
    coordinate: str
    options: Mapping[str, str] = field(default_factory=dict)


DRIVERS: Mapping[str, KnownDriver] = {
    "postgresql": KnownDriver(
        "org.postgresql.Driver",
        "org.postgresql:postgresql:42.7.7",
        {"connectTimeout": "10", "socketTimeout": "300", "tcpKeepAlive": "true"},
    ),
    "mysql": KnownDriver(
        "com.mysql.cj.jdbc.Driver",
        "com.mysql:mysql-connector-j:9.3.0",
        {"connectTimeout": "10000", "socketTimeout": "300000"},
    ),
    "mariadb": KnownDriver(
        "org.mariadb.jdbc.Driver",
        "org.mariadb.jdbc:mariadb-java-client:3.5.3",
        {"connectTimeout": "10000", "socketTimeout": "300000"},
    ),
    "sqlserver": KnownDriver(
        "com.microsoft.sqlserver.jdbc.SQLServerDriver",
        "com.microsoft.sqlserver:mssql-jdbc:12.10.0.jre11",
        {"loginTimeout": "10", "socketTimeout": "300000"},
    ),
    "oracle": KnownDriver("oracle.jdbc.OracleDriver", "com.oracle.database.jdbc:ojdbc11:23.8.0.25.04"),
}
"""By the name in the URL; the SHA-256 of their jars are in the same file as the connector's (`verify`)."""


class DatabaseSource(ReferenceSource):
    """A table of a database, or a query's result."""

    def __init__(self, section: JdbcReference) -> None:
        self._section = section
        url = "a database" if isinstance(section.url, Secret) else _URL_SECRETS.sub("", section.url)
        self.place = f"{f'the table {section.table}' if section.table else 'the query'} of {url}"

    def version(self, spark: SparkSession) -> SourceVersion:
        """The digest of the result of the section's query."""
        requested_at, statement = time.time(), self._section.version
        if statement is None:
            return SourceVersion(None, requested_at)
        with self._connected(spark) as connection:
            rows = connection.createStatement().executeQuery(statement)
            columns = range(1, rows.getMetaData().getColumnCount() + 1)
            digest = hashlib.sha256()
            while rows.next():
                digest.update(json.dumps([rows.getString(column) for column in columns]).encode())
        return SourceVersion(digest.hexdigest(), requested_at)

    def load(self, spark: SparkSession, version: SourceVersion) -> DataFrame:  # noqa: ARG002 - a database has only the current rows
        """All rows, with the schema of the database."""
        self._require_driver(spark.sparkContext._jvm)  # noqa: SLF001
        return spark.read.format("jdbc").options(**self._options()).load()

    def recipe(self) -> object:
        """Database, table and query."""
        return [self.place, self._section.query]

    def cause(self, error: BaseException) -> str:
        """The cause of an error, without values of `${env:}` and `${file:}` and without the password."""
        return masked(root_cause(error), *secrets_of(self._given()))

    def _options(self) -> dict[str, str]:
        """The options of Spark's JDBC source. They contain secrets: never log them."""
        section = self._section
        revealed = {name: _revealed(value) for name, value in self._given().items() if value is not None}
        known = _known(section)
        return {"driver": class_name(section), **_FETCH_SIZE, **(known.options if known else {}), **revealed}

    def _given(self) -> dict[str, str | Secret | None]:
        section = self._section
        given = {"url": section.url, "user": section.user, "password": section.password}
        return given | {"dbtable": section.table, "query": section.query, **section.options}

    @contextmanager
    def _connected(self, spark: SparkSession) -> Iterator[Any]:
        """A `java.sql.Connection` of the driver's JVM."""
        jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to py4j
        self._require_driver(jvm)
        settings = jvm.java.util.HashMap()
        for name, value in self._options().items():
            settings.put(name, value)
        scala = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(settings)
        options = jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(scala)
        dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(settings.get("url"))
        connection = dialect.createConnectionFactory(options).apply(-1)
        try:
            yield connection
        finally:
            connection.close()

    def _require_driver(self, jvm: Any) -> None:
        name = class_name(self._section)
        if not class_visible(jvm, name):
            known = next((driver.coordinate for driver in DRIVERS.values() if driver.class_name == name), None)
            hint = f"add its jar to spark.jars, or write `driver: {known or 'group:artifact:version'}`"
            raise UnusableReferenceError(f"Spark does not have the driver of {self.place}, class {name}", hint=hint)


def class_name(section: JdbcReference) -> str:
    """The class of the driver.

    Raises:
        ConfigError: neither the section nor its URL names it.
    """
    known = _known(section)
    if section.driver and ":" not in section.driver:
        return section.driver
    if section.driver and (known is None or known.coordinate != section.driver):
        return _class_of(*driver_jars(section))
    if known is None:
        message = "the driver of this JDBC URL is not known"
        hint = "write `driver: group:artifact:version` with the Maven coordinates of its jar"
        raise ConfigError(Finding("unknown-driver", message, hint))
    return known.class_name


def driver_jars(section: JdbcReference) -> tuple[Path, ...]:
    """The jar of the driver, downloaded unless it is in the cache; none if the section names a class.

    Raises:
        MissingToolError: it cannot be downloaded; names its Maven coordinates.
        AlteredFileError: its SHA-256 is not the expected one.
    """
    if section.driver and ":" not in section.driver:
        return ()
    known = _known(section)
    coordinate = section.driver or (known.coordinate if known else None)
    if coordinate is None:
        return ()
    try:
        jars = resolve([coordinate], transitive=False)
    except ValueError as error:
        hint = "write `driver: group:artifact:version`, or the name of a class that Spark has"
        raise ConfigError(Finding("bad-driver", f"`driver`: {error}", hint)) from None
    except MissingToolError as error:
        hint = "or give Spark the jar (`--conf spark.jars=…`) and write the name of its class: `driver: org.x.Driver`"
        raise MissingToolError(f"no driver for {section.table or 'a query'}: {error.message}", hint=hint) from None
    verify(jars)
    return jars


def _known(section: JdbcReference) -> KnownDriver | None:
    found = _SUBPROTOCOL.match(_revealed(section.url))
    return DRIVERS[found[1]] if found else None


def _class_of(jar: Path) -> str:
    """The driver class that the jar declares (java.util.ServiceLoader)."""
    with zipfile.ZipFile(jar) as archive:
        names = archive.read(_SERVICES).decode().split() if _SERVICES in archive.namelist() else []
    if not names:
        hint = "name the class, and give Spark the jar: `driver: org.x.Driver`"
        raise ConfigError(Finding("bad-driver", f"{jar.name} names no JDBC driver", hint))
    return names[0]


def _revealed(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value
