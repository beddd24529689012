"""References that are no files: a real PostgreSQL, tables of Spark's own catalog, and records of a topic by hand."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.postgres import USER, Postgres, postgres

from brokernat.address import Endpoint
from brokernat.config import Cluster, Secret
from brokernat.config.model import Decode, JdbcReference, KafkaReference, Reference
from brokernat.pipelines import references as module
from brokernat.pipelines.references import ReferenceTable
from brokernat.pipelines.references.database import DatabaseSource
from brokernat.pipelines.references.files import CatalogSource
from brokernat.pipelines.references.source import DuplicateKeysError, StaleReferenceError, UnusableReferenceError
from brokernat.pipelines.references.topic import TopicSource
from brokernat.pipelines.steps.formats import decode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

pytestmark = pytest.mark.spark

CANARY = "canary-5e1d77"
VERSION = "SELECT max(updated_at), count(*) FROM customers"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres(CANARY, ["CREATE TABLE customers (id text, name text, updated_at int)"]) as running:
        yield running


class Database:
    """The table `customers`, filled anew, and references to it."""

    def __init__(self, spark: SparkSession, server: Postgres, folder: Path) -> None:
        self.spark = spark
        self.server = server
        self.folder = folder

    def execute(self, *statements: str) -> None:
        jvm: Any = self.spark.sparkContext._jvm
        properties = jvm.java.util.Properties()
        properties.put("user", USER)
        properties.put("password", self.server.password)
        connection = jvm.org.postgresql.Driver().connect(self.server.url, properties)
        for statement in statements:
            connection.createStatement().execute(statement)
        connection.close()

    def section(self, **jdbc: Any) -> Reference:
        given = {"url": self.server.url, "user": USER, "password": Secret(CANARY), "version": VERSION}
        return Reference(jdbc=JdbcReference(**{**({} if "query" in jdbc else {"table": "customers"}), **given, **jdbc}))

    def table(self, section: Reference | None = None, **more: Any) -> ReferenceTable:
        section = (section or self.section()).model_copy(update={"refresh": "every_batch", **more})
        assert section.jdbc
        source, folder = DatabaseSource(section.jdbc), str(self.folder / "state")
        return ReferenceTable("customers", section, key="id", columns=None, folder=folder, source=source)


@pytest.fixture
def database(spark: SparkSession, server: Postgres, tmp_path: Path) -> Database:
    found = Database(spark, server, tmp_path)
    found.execute("DELETE FROM customers", "INSERT INTO customers VALUES ('c1', 'One', 1), (NULL, 'Nobody', 1)")
    return found


def names(spark: SparkSession, table: ReferenceTable, key_type: str = "string") -> dict[object, object]:
    return {row["id"]: row["name"] for row in table.current(spark, key_type).frame(spark).collect()}


def test_a_table_is_read_again_when_its_version_changes(database: Database) -> None:
    table = database.table()
    assert names(database.spark, table) == {"c1": "One"}
    database.execute("UPDATE customers SET name = 'Unseen'")
    assert not table.has_changed(database.spark)
    assert names(database.spark, table) == {"c1": "One"}
    database.execute("INSERT INTO customers VALUES ('c2', 'Two', 2)")
    assert table.has_changed(database.spark)
    assert names(database.spark, table) == {"c1": "Unseen", "c2": "Two"}
    assert not table.has_changed(database.spark)


def test_without_a_version_a_query_is_run_each_time_and_equal_rows_are_the_same_version(database: Database) -> None:
    section = database.section(query="SELECT id, upper(name) AS name FROM customers", version=None)
    table = database.table(section)
    assert names(database.spark, table) == {"c1": "ONE"}
    first = table.version.id
    assert table.has_changed(database.spark)
    assert names(database.spark, table) == {"c1": "ONE"}
    assert table.version.id == first
    database.execute("UPDATE customers SET name = 'Uno'")
    assert names(database.spark, table) == {"c1": "UNO"}


def test_everything_that_is_wrong_with_a_table_is_named_at_once(database: Database) -> None:
    database.execute("INSERT INTO customers VALUES ('c1', 'Once more', 1)")
    with pytest.raises(DuplicateKeysError, match=r"c1 \(2 times\)") as caught:
        names(database.spark, database.table())
    assert caught.value.hint == "remove them, or choose one row per key in a query or a view"
    section = database.section()
    assert section.jdbc
    source = DatabaseSource(section.jdbc)
    table = ReferenceTable(
        "customers", section, key="id", columns=("segment",), folder=str(database.folder), source=source
    )
    with pytest.raises(UnusableReferenceError, match="has no column `segment`") as all_of_it:
        names(database.spark, table, "bigint")
    assert "`id` is BIGINT in the records, but 'c1', 'c1' in the reference" in all_of_it.value.message
    assert "c1 (2 times)" in all_of_it.value.message


def test_a_wrong_password_is_named_and_not_shown(database: Database) -> None:
    url = f"{database.server.url}?password={CANARY}x"
    for wrong in (database.section(password=Secret(CANARY + "x")), database.section(url=url, password=None)):
        with pytest.raises(UnusableReferenceError, match=f'password authentication failed for user "{USER}"') as caught:
            names(database.spark, database.table(wrong))
        assert CANARY not in str(caught.value)


def test_a_driver_that_is_not_there_is_named_with_what_to_do(database: Database) -> None:
    with pytest.raises(UnusableReferenceError, match=r"class org\.absent\.Driver") as caught:
        names(database.spark, database.table(database.section(driver="org.absent.Driver")))
    assert "group:artifact:version" in (caught.value.hint or "")


def test_while_a_database_is_away_the_last_good_version_is_joined_until_it_is_too_old(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = database.table(max_age="10 minutes")
    names(database.spark, table)
    written_at = table.version.written_at
    database.server.stop()
    try:
        later = database.table(max_age="10 minutes")
        for each in (table, later):
            assert names(database.spark, each) == {"c1": "One"}
            assert "cannot be read" in each.version.trouble
            assert each.version.written_at == written_at
        assert not table.has_changed(database.spark)
        assert CANARY not in caplog.text
        in_an_hour = SimpleNamespace(time=lambda: time.time() + 3600, monotonic=time.monotonic)
        monkeypatch.setattr(module, "time", in_an_hour)
        with pytest.raises(
            StaleReferenceError, match="was last reached 1 hour ago, and max_age is 10 minutes"
        ) as stale:
            names(database.spark, table)
        assert "cannot be read" in stale.value.message
    finally:
        database.server.start()
    monkeypatch.undo()
    assert names(database.spark, table) == {"c1": "One"}
    assert not table.version.trouble
    # A start without the database knows when it was reached last.
    assert database.table().current(database.spark, "string").written_at >= written_at


@pytest.mark.parametrize("statement", [None, "SELECT max(id) FROM lookups"])
def test_a_table_of_the_catalog_is_read_again_when_it_has_changed(
    spark: SparkSession, tmp_path: Path, statement: str | None
) -> None:
    spark.sql("DROP TABLE IF EXISTS lookups")
    spark.sql(f"CREATE TABLE lookups (id STRING, name STRING) USING parquet LOCATION '{tmp_path / 'lookups'}'")
    section = Reference.model_validate(
        {"catalog": {"table": "default.lookups", "version": statement}, "refresh": "every_batch"}
    )
    assert section.catalog
    source = CatalogSource(section.catalog)
    table = ReferenceTable("lookups", section, key="id", columns=None, folder=str(tmp_path / "state"), source=source)
    spark.sql("INSERT INTO lookups VALUES ('c1', 'One')")
    assert names(spark, table) == {"c1": "One"}
    assert not table.has_changed(spark)
    spark.sql("INSERT INTO lookups VALUES ('c2', 'Two')")
    assert table.has_changed(spark)
    assert names(spark, table) == {"c1": "One", "c2": "Two"}
    spark.sql("DROP TABLE lookups")
    assert names(spark, table) == {"c1": "One", "c2": "Two"}
    assert "lookups" in table.version.trouble


def test_a_view_has_no_files_and_is_read_each_time(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW twice AS SELECT id, name FROM VALUES ('c1', 'One') AS t(id, name)")
    section = Reference.model_validate({"catalog": {"table": "twice"}})
    assert section.catalog
    source = CatalogSource(section.catalog)
    table = ReferenceTable("twice", section, key="id", columns=None, folder=str(tmp_path), source=source)
    assert source.version(spark).text is None
    assert names(spark, table) == {"c1": "One"}


AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
RECORDS = "key binary, value binary, partition int, offset bigint, timestamp timestamp"


@pytest.fixture
def rows_of(spark: SparkSession) -> Callable[..., list[tuple[object, ...]]]:
    """What a topic with these records holds: (key, value, partition, offset, seconds)."""
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL("name STRING NOT NULL")
    assert isinstance(schema, StructType)

    def rows(*records: tuple[str | None, str | None, int, int, int]) -> list[tuple[object, ...]]:
        made = [
            (key.encode() if key else None, value and f'{{"name": {value}}}'.encode(), partition, offset, after)
            for key, value, partition, offset, seconds in records
            for after in (AT + dt.timedelta(seconds=seconds),)
        ]
        return [
            tuple(row)
            for row in _topic(schema).rows(spark.createDataFrame(made, RECORDS)).select("id", "name").collect()
        ]

    return rows


def _topic(schema: StructType) -> TopicSource:
    section = KafkaReference(cluster="hq", topic="customers", decode=Decode(format="json", schema="name STRING"))
    cluster = Cluster("hq", (Endpoint("gw", 9093),))
    return TopicSource(section, cluster, "id", lambda records: decode(records, schema))


def test_the_last_record_of_a_partition_counts_and_the_later_of_two_partitions(rows_of: Any) -> None:
    found = rows_of(
        ("c1", '"a"', 0, 1, 60),
        ("c1", '"b"', 0, 2, 0),  # behind the other, with an earlier timestamp
        ("c2", '"a"', 0, 3, 0),
        ("c2", '"b"', 1, 1, 60),  # since a partition was added
        ("c3", '"a"', 0, 4, 0),
        ("c3", None, 1, 2, 60),
    )
    assert sorted(found) == [("c1", "b"), ("c2", "b")]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ((None, '"a"', 0, 7, 0), "partition 0, offset 7: it has no key"),
        (("c1", "7", 1, 8, 0), "partition 1, offset 8: WrongType: "),
    ],
)
def test_a_record_that_is_no_row_fails_the_read_and_is_named(rows_of: Any, record: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        rows_of(record)
