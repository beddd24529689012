"""One reference over its life: what a batch gets after each thing that can happen to the file."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Observation

from brokernat.config.model import Reference, Sink
from brokernat.errors import ConfigError
from brokernat.pipelines import references as module
from brokernat.pipelines.batch import current_joins
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.references import ReferenceTable, copies, files
from brokernat.pipelines.references.files import FileSource
from brokernat.pipelines.references.held import HeldReference, hold
from brokernat.pipelines.references.source import (
    ORDER,
    DuplicateKeysError,
    StaleReferenceError,
    UnusableReferenceError,
)
from brokernat.pipelines.steps.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


class Life:
    """A reference file and its table; `write` makes the file look older than the pause that young files get."""

    def __init__(self, spark: SparkSession, folder: Path, **section: Any) -> None:
        self.spark = spark
        self.folder = folder
        self.path = folder / "customers.csv"
        self.section = Reference(**{"format": "csv", "path": str(self.path)} | section)
        self._clock = time.time() - 1000
        self.table = self.new_table()

    def new_table(self, **more: Any) -> ReferenceTable:
        settings: dict[str, Any] = {"key": "id", "columns": None, "folder": str(self.folder / "state")} | more
        return ReferenceTable("customers", self.section, source=FileSource(self.section), **settings)

    def write(self, text: str) -> None:
        self.path.write_text(text)
        self._clock += 1
        os.utime(self.path, (self._clock, self._clock))

    def rows(self, table: ReferenceTable | None = None, key_type: str = "string") -> dict[object, object]:
        frame = (table or self.table).current(self.spark, key_type).frame(self.spark)
        return {row["id"]: row["name"] for row in frame.collect()}


@pytest.fixture
def life(spark: SparkSession, tmp_path: Path) -> Life:
    return Life(spark, tmp_path)


def test_an_overwritten_file_is_seen_and_the_plan_of_before_still_runs(life: Life) -> None:
    life.write("id,name\nc1,One\n")
    before = life.table.current(life.spark, "string").frame(life.spark)
    life.write("id,name\nc1,Uno\nc2,Two\n")
    assert life.rows() == {"c1": "Uno", "c2": "Two"}
    assert [row["name"] for row in before.collect()] == ["One"]


def test_the_version_follows_from_the_content_alone(life: Life) -> None:
    def version(text: str) -> str:
        life.write(text)
        return life.table.current(life.spark, "string").id

    first = version("id,name\nc1,One\nc2,Two\n")
    assert version("id,name\nc2,Two\nc1,One\n") == first
    assert version("id,name\nc1,One\nc2,Other\n") != first
    assert version("id,name\nc1,One\nc2,Two\n") == first
    assert life.rows() == {"c1": "One", "c2": "Two"}


@pytest.mark.parametrize(
    ("header", "jobs"),
    [
        ("id,name", 0),
        ("id,a.b`c,Größe", 0),
        ("id,name\r", 0),
        ('id,"the name"', 1),
        ("id,id", 1),
        ("id,Id", 1),
        ("id,", 1),
        ("id, name", 1),
        ("\ufeffid,name", 1),
        ("\nid,name", 1),
    ],
)
def test_a_plain_header_needs_no_job_and_is_read_as_spark_reads_it(
    life: Life, monkeypatch: pytest.MonkeyPatch, header: str, jobs: int
) -> None:
    row = ",".join("1234"[: header.count(",") + 1])
    life.path.write_bytes(f"{header}\n{row}\n".encode())
    source, context = FileSource(life.section), life.spark.sparkContext

    def loaded(group: str) -> tuple[list[str], list[tuple[object, ...]] | None, int]:
        context.setJobGroup(group, group)
        frame = source.load(life.spark, source.version(life.spark)).drop(ORDER)
        started = len(context.statusTracker().getJobIdsForGroup(group))
        try:
            rows = [tuple(each) for each in frame.collect()]
        except Exception:  # noqa: BLE001 - Spark refuses headers that it has to rename
            return frame.columns, None, started
        return frame.columns, rows, started

    ours = loaded(f"ours {life.folder}")
    monkeypatch.setattr(files, "plain_columns", lambda _: None)
    sparks = loaded(f"spark's {life.folder}")
    context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert ours == (*sparks[:2], jobs)
    assert sparks[2] == 1


@pytest.mark.parametrize("policy", ["fail", "first", "last"])
def test_a_file_without_rows_is_a_version(spark: SparkSession, tmp_path: Path, policy: str) -> None:
    life = Life(spark, tmp_path, duplicates=policy)
    life.write("id,name\n")
    assert life.rows() == {}
    assert life.table.held(spark)
    life.write("id,name\nc1,One\n")
    assert life.rows() == {"c1": "One"}


def test_a_version_is_the_same_if_spark_loses_its_event_of_the_write(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.write("id,name\nc1,One\nc2,\n")
    told = life.table.current(life.spark, "string")
    never = Event()
    monkeypatch.setattr(Observation, "get", property(lambda _: never.wait()))
    monkeypatch.setattr(copies, "_EVENT_SECONDS", 0.1)
    try:
        untold = life.new_table(folder=str(life.folder / "other")).current(life.spark, "string")
    finally:
        never.set()
    assert (untold.id, untold.rows) == (told.id, told.rows)


@pytest.mark.parametrize(
    "broken",
    ["", "id,na", "id,name\n", "id,name\nc1", "name\nOne\n", "id,name\nc1,One,more\n"],
)
def test_a_file_that_is_not_whole_leaves_the_last_good_version_in_force(
    life: Life, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    life.write(broken)
    assert life.rows() == life.rows() == {"c1": "One"}
    assert [record.levelname for record in caplog.records if record.levelname == "WARNING"] == ["WARNING"]
    life.write("id,name\nc1,Uno\n")
    assert life.rows() == {"c1": "Uno"}


def test_a_file_that_is_written_while_it_is_read_is_no_version(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    load = FileSource.load

    def written_meanwhile(source: FileSource, *arguments: Any) -> DataFrame:
        rows = load(source, *arguments)
        life.write("id,name\nc1,Uno\nc2,Two\n")
        return rows

    life.write("id,name\nc1,Eins\nc2,Zwei\n")
    with monkeypatch.context() as patch:
        patch.setattr(FileSource, "load", written_meanwhile)
        assert life.rows() == {"c1": "One"}
    assert "changed while it was read" in life.table.version.trouble
    assert life.rows() == {"c1": "Uno", "c2": "Two"}


@pytest.mark.parametrize("times", [1, 4, 5])
def test_without_a_good_version_a_file_that_is_written_while_it_is_read_is_read_again(
    life: Life, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    life.write("id,name\nc1,0\n")
    load, texts = FileSource.load, iter([f"id,name\nc1,{number}\n" for number in range(1, times + 1)])

    def written_meanwhile(source: FileSource, *arguments: Any) -> DataFrame:
        rows = load(source, *arguments)
        if text := next(texts, None):
            life.write(text)
        return rows

    monkeypatch.setattr(FileSource, "load", written_meanwhile)
    if times < 5:
        assert life.rows() == {"c1": str(times)}
    else:
        with pytest.raises(UnusableReferenceError, match="changed while it was read"):
            life.rows()


def test_a_vanished_file_leaves_the_last_good_version_in_force_over_restarts(life: Life) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    life.path.unlink()
    assert life.rows() == {"c1": "One"}
    assert life.rows(life.new_table()) == {"c1": "One"}


def test_without_any_good_version_there_is_an_error(life: Life) -> None:
    with pytest.raises(UnusableReferenceError, match="there is no file at"):
        life.rows()
    life.write("other,name\nc1,One\n")
    with pytest.raises(UnusableReferenceError, match="has no column `id`") as caught:
        life.rows()
    assert caught.value.hint == "it has: other, name"


def test_a_file_system_that_is_away_leaves_the_last_good_version_in_force(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    stamps = Files.stamps
    away = f"nowhere://{life.path}"
    monkeypatch.setattr(Files, "stamps", lambda files, path: stamps(files, away if path == str(life.path) else path))
    assert life.rows() == {"c1": "One"}
    assert (
        'cannot be read: UnsupportedFileSystemException: No FileSystem for scheme "nowhere"'
        in life.table.version.trouble
    )


def test_duplicate_keys_stop_the_run_and_are_named_also_later(life: Life) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    life.write("id,name\nc1,One\nc2,a\nc2,b\nc2,c\n")
    with pytest.raises(DuplicateKeysError, match=r"1 duplicate key \(`id`\) in .*: c2 \(3 times\)"):
        life.rows()


@pytest.mark.parametrize("duplicates", [True, False])
def test_duplicate_keys_are_found_too_where_no_table_can_be_held(
    life: Life, monkeypatch: pytest.MonkeyPatch, duplicates: bool
) -> None:
    monkeypatch.setattr(module, "hold", lambda *_, **__: None)
    life.write(f"id,name\nc1,One\n{'c1' if duplicates else 'c2'},Two\n")
    if not duplicates:
        assert life.rows() == {"c1": "One", "c2": "Two"}
        assert life.table.held(life.spark) is None
        return
    with pytest.raises(DuplicateKeysError, match=r"c1 \(2 times\)"):
        life.rows()


def test_a_version_is_held_once(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of a version holds it, and what runs afterwards takes the same table."""
    made = []

    def counted(*args: Any, **named: Any) -> HeldReference | None:
        made.append(named["version"])
        return hold(*args, **named)

    monkeypatch.setattr(module, "hold", counted)
    for text in ("id,name\nc1,One\n", "id,name\nc1,Uno\n"):
        life.write(text)
        version = life.table.current(life.spark, "string").id
        first = life.table.held(life.spark)
        assert first
        assert first.version == version == made[-1]
        assert life.table.held(life.spark) is first
    assert len(made) == 2


@pytest.mark.parametrize(("policy", "name"), [("first", "a"), ("last", "c")])
def test_a_policy_picks_one_row_of_duplicates(spark: SparkSession, tmp_path: Path, policy: str, name: str) -> None:
    life = Life(spark, tmp_path, duplicates=policy)
    life.write("id,name\nc2,a\nc1,One\nc2,b\nc2,c\n")
    assert life.rows() == {"c1": "One", "c2": name}


def test_never_reads_once_per_run(spark: SparkSession, tmp_path: Path) -> None:
    life = Life(spark, tmp_path, refresh="never")
    life.write("id,name\nc1,One\n")
    life.rows()
    life.write("id,name\nc1,Uno\n")
    assert life.rows() == {"c1": "One"}
    assert life.rows(life.new_table()) == {"c1": "Uno"}


def test_a_change_is_seen_without_reading_and_a_broken_file_is_no_news_twice(life: Life) -> None:
    """What a query of `mode: realtime` ends for."""
    life.write("id,name\nc1,One\n")
    life.rows()
    assert not life.table.has_changed(life.spark)
    life.write("id,name\nc1")
    assert life.table.has_changed(life.spark)
    assert life.rows() == {"c1": "One"}
    assert "cannot be read" in life.table.version.trouble
    assert not life.table.has_changed(life.spark)
    life.write("id,name\nc1,Uno\n")
    assert life.table.has_changed(life.spark)
    assert life.rows() == {"c1": "Uno"}
    assert not life.table.version.trouble


def test_between_two_looks_nobody_asks_the_source(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(spark, tmp_path, refresh="10 minutes")
    life.write("id,name\nc1,One\n")
    life.rows()
    life.write("id,name\nc1,Uno\n")
    assert not life.table.has_changed(spark)
    assert life.rows() == {"c1": "One"}
    later = SimpleNamespace(time=time.time, monotonic=lambda: time.monotonic() + 601)
    monkeypatch.setattr(module, "time", later)
    assert life.table.has_changed(spark)
    assert life.rows() == {"c1": "Uno"}


def test_a_reference_that_is_too_old_stops_the_run_until_it_is_written_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    life = Life(spark, tmp_path, max_age="10 minutes")
    life.write("id,name\nc1,One\n")
    with pytest.raises(StaleReferenceError, match="was written 16 minutes ago, and max_age is 10 minutes") as caught:
        life.rows()
    assert "`stale: warn`" in (caught.value.hint or "")
    life.path.write_text("id,name\nc1,Uno\n")
    assert life.rows() == {"c1": "Uno"}


def test_a_file_that_cannot_be_used_does_not_make_the_version_in_force_younger(
    spark: SparkSession, tmp_path: Path
) -> None:
    life = Life(spark, tmp_path, max_age="10 minutes", stale="warn")
    life.write("id,name\nc1,One\n")
    life.rows()
    strict = Life(spark, tmp_path, max_age="10 minutes")
    life.path.write_text("other,name\nc1,Uno\n")
    with pytest.raises(StaleReferenceError):
        strict.rows()


def test_an_old_reference_may_be_joined_with_one_warning(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    life = Life(spark, tmp_path, max_age="10 minutes", stale="warn")
    life.write("id,name\nc1,One\n")
    assert life.rows() == life.rows() == {"c1": "One"}
    (warning,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert warning.endswith("it is used nevertheless")


def test_the_key_becomes_the_type_of_the_records(life: Life) -> None:
    life.write("id,name\n7,Seven\n")
    assert life.rows(key_type="bigint") == {7: "Seven"}
    life.write("id,name\nx7,Seven\n")
    with pytest.raises(UnusableReferenceError, match="`id` is BIGINT in the records, but 'x7' in the reference"):
        life.rows(life.new_table(folder=str(life.folder / "other")), key_type="bigint")


def test_a_copy_made_by_another_recipe_is_not_used(life: Life) -> None:
    life.write("id,name,secret\nc1,One,x\n")
    life.rows()
    frame = life.new_table(columns=("secret",)).current(life.spark, "string").frame(life.spark)
    assert frame.columns == ["id", "secret"]


def test_null_keys_match_nothing_and_chosen_columns_are_all_there_is(life: Life) -> None:
    life.write("id,name,secret\n,Nobody,x\nc1,One,y\n")
    table = life.new_table(columns=("name",))
    assert table.current(life.spark, "string").frame(life.spark).columns == ["id", "name"]
    assert life.rows(table) == {"c1": "One"}


def test_json_and_parquet_folders(spark: SparkSession, tmp_path: Path) -> None:
    for form in ("json", "parquet"):
        folder = tmp_path / form
        spark.createDataFrame([("c1", "One"), ("c2", "Two")], "id STRING, name STRING").write.format(form).save(
            str(folder / "data")
        )
        life = Life(spark, folder, format=form, path=str(folder / "data"))
        assert life.rows() == {"c1": "One", "c2": "Two"}


def test_a_files_own_options_win_and_its_time_may_be_the_beginning_of_time(spark: SparkSession, tmp_path: Path) -> None:
    """An image's files are often dated 1970."""
    life = Life(spark, tmp_path, options={"header": "false", "sep": ";"}, schema="id STRING, name STRING")
    life.write("c1;One\n")
    os.utime(life.path, (0, 0))
    assert life.rows() == {"c1": "One"}


def test_only_the_last_two_versions_are_kept(life: Life) -> None:
    for number in range(4):
        life.write(f"id,name\nc1,{number}\n")
        life.rows()
    kept = [path for path in (life.folder / "state").iterdir() if path.is_dir()]
    assert len(kept) == 2


@pytest.mark.parametrize("note", ["", "{", "[]", '{"id": "of another version"}', '{"stamps": [{"inode": 1}]}'])
def test_a_note_that_this_version_cannot_read_costs_one_more_look_at_the_file(life: Life, note: str) -> None:
    life.write("id,name\nc1,One\n")
    life.rows()
    Files(life.spark).write_text(f"{life.folder}/state/current.json", note)
    assert life.rows(life.new_table()) == {"c1": "One"}


def test_all_references_that_cannot_be_used_are_named_at_once(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL("id STRING")
    assert isinstance(schema, StructType)
    plan = Plan("tags", schema, Sink(cluster="local", topic="tags", dead_letters="dead"))
    lives = [Life(spark, tmp_path / name) for name in ("one", "two")]
    added = Life(spark, tmp_path / "three").new_table(key="added_by_one_of_them")
    with pytest.raises(ConfigError) as caught:
        current_joins(plan, [*(life.table for life in lives), added], spark)
    assert [problem.message.rpartition("/")[0] for problem in caught.value.problems] == [
        f"reference `customers`: there is no file at {life.folder}" for life in lives
    ]
