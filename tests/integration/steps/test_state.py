from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from brokernat.errors import ConfigError
from brokernat.pipelines import preflight
from brokernat.pipelines.check_result import Level
from brokernat.pipelines.checkpoint.committed import every_partition
from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.checkpoint.state import Owner, State, foreign, locked, user_folder
from brokernat.pipelines.pipeline import claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINE = Owner("tags", "cluster-a", ("orders",), {"orders": "id-1"})


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, []),
        (MINE, []),
        (Owner("tags", "cluster-a", ()), []),
        (Owner("tags", "cluster-a", ("orders",)), []),
        (Owner("tags", "cluster-a", ("orders",), {"orders": "id-0"}), ["orders was deleted and recreated"]),
        (Owner("other", "cluster-a", ("orders",)), ["belongs to pipeline `other`"]),
        (Owner("tags", "cluster-b", ("orders",)), ["offsets of the Kafka cluster cluster-b"]),
        (Owner("tags", "cluster-a", ("orders", "gone")), ["offsets of gone, which"]),
        (Owner("other", "cluster-b", ("gone",)), ["other", "cluster-b", "gone"]),
    ],
)
def test_a_checkpoint_is_gone_on_with_only_by_its_owner(found: Owner | None, told: list[str]) -> None:
    problems = foreign(found, MINE)
    assert len(problems) == len(told)
    assert all(text in problem.message for text, problem in zip(told, problems, strict=True))


@pytest.mark.spark
def test_an_owner_is_remembered_and_replaced(spark: SparkSession, tmp_path: Path) -> None:
    files, state = Files(spark), State(str(tmp_path / "state"))
    assert state.owner(files) is None
    state.claim(files, MINE)
    state.claim(files, Owner("tags", "cluster-a", ("orders", "more"), {"orders": "id-1"}))
    assert state.owner(files) == Owner("tags", "cluster-a", ("orders", "more"), {"orders": "id-1"})


@pytest.mark.spark
def test_a_file_with_a_checksum_of_hadoop_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    files, at = Files(spark), tmp_path / "starts"
    system, path = files._locate(str(at))
    stream = system.create(path, True)
    stream.write(bytearray(b"1"))
    stream.close()
    assert (tmp_path / ".starts.crc").exists()
    files.write_text(str(at), "2")
    assert files.read_text(str(at)) == "2"


@pytest.mark.spark
def test_what_an_older_broker_does_not_tell_is_remembered(spark: SparkSession, tmp_path: Path) -> None:
    files, state = Files(spark), State(str(tmp_path / "state"))
    claim(files, state, MINE)
    claim(files, state, Owner("tags", "cluster-a", ("orders",)))
    assert state.owner(files) == MINE
    with pytest.raises(ConfigError, match="orders was deleted and recreated"):
        claim(files, state, Owner("tags", "cluster-a", ("orders",), {"orders": "id-2"}))


@pytest.mark.spark
def test_a_checkpoint_that_cannot_be_written_is_an_error_of_the_check(spark: SparkSession, tmp_path: Path) -> None:
    prepared: Any = SimpleNamespace(state=State(str(tmp_path)))
    (tmp_path / "_brokernat").touch()
    (found,) = preflight._checkpoint(Files(spark), prepared, MINE)
    assert (found.level, found.code) == (Level.ERROR, 2)
    assert found.message.startswith(f"{tmp_path} cannot be written: ")


@pytest.mark.spark
def test_a_checkpoint_that_another_program_began_is_not_taken_over(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    with pytest.raises(ConfigError, match="created by another program"):
        claim(Files(spark), State(str(tmp_path)), MINE)


@pytest.mark.spark
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pipeline": "tags", "source_cluster": "c", "topics": 1}'])
def test_a_damaged_note_is_said_and_not_taken_for_none(spark: SparkSession, tmp_path: Path, text: str) -> None:
    state = State(str(tmp_path))
    Path(state.owner_file).parent.mkdir()
    Path(state.owner_file).write_text(text)
    with pytest.raises(ConfigError, match=r"owner\.json is damaged"):
        state.owner(Files(spark))


@pytest.mark.spark
def test_a_note_of_an_older_or_newer_version_is_read(spark: SparkSession, tmp_path: Path) -> None:
    state = State(str(tmp_path))
    Path(state.owner_file).parent.mkdir()
    for more in ("", ', "topic_ids": {"orders": "id-1"}, "from_the_future": 1'):
        known = f'{{"pipeline": "tags", "source_cluster": "cluster-a", "topics": ["orders"]{more}}}'
        Path(state.owner_file).write_text(known)
        assert foreign(state.owner(Files(spark)), MINE) == ()


@pytest.mark.spark
def test_where_a_lost_checkpoint_is_gone_on_is_noted_once_and_read_back(spark: SparkSession, tmp_path: Path) -> None:
    files, state = Files(spark), State(str(tmp_path))
    assert state.starting_offsets(files) is None
    state.start_from(files, {"orders": {0: 7}})
    assert state.starting_offsets(files) == {"orders": {0: 7}}
    # Spark demands every partition; one that is new is read from its beginning.
    assert every_partition({"orders": {0: 7}}, {"orders": 2, "more": 1}) == {"orders": {0: 7, 1: -2}, "more": {0: -2}}
    state.require_unused(files)
    files.write_text(state.starting_file, "{")
    with pytest.raises(ConfigError, match=r"starting-offsets\.json is damaged"):
        state.starting_offsets(files)
    (tmp_path / "metadata").touch()
    with pytest.raises(ConfigError, match="a run continues from it"):
        state.require_unused(files)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["metadata", "sources", "offsets", "commits"])
def test_whatever_spark_has_left_in_a_checkpoint_a_run_continues_from_it(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    files, state = Files(spark), State(str(tmp_path))
    assert not state.has_begun(files)
    (tmp_path / name).mkdir()
    assert state.has_begun(files)


@pytest.mark.spark
@pytest.mark.parametrize("text", ["", "{", "[]", '{"decode": 1}'])
def test_a_definition_that_cannot_be_read_is_none(spark: SparkSession, tmp_path: Path, text: str) -> None:
    files, state = Files(spark), State(str(tmp_path))
    assert state.definition(files) == {}
    state.define(files, {"decode": "d"})
    assert state.definition(files) == {"decode": "d"}
    files.write_text(state.definition_file, text)
    assert state.definition(files) == {}


def test_a_folder_is_held_by_one_run(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(ConfigError, match="another process already runs"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


def test_logs_lie_beside_a_local_checkpoint_and_in_the_home_otherwise(tmp_path: Path) -> None:
    assert State(str(tmp_path)).local_folder("tags") == tmp_path / "_brokernat"
    assert State(f"file:{tmp_path}").local_folder("tags") == tmp_path / "_brokernat"
    assert "brokernat" in State("hdfs://nn/state").local_folder("tags").parts


def test_a_user_s_folder_follows_the_base_directory_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, folder in (("/state", "/state"), ("state", f"{tmp_path}/.local/state")):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert str(user_folder("tags")) == f"{folder}/brokernat/tags"
