from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from brokernat.errors import ConfigError
from brokernat.pipelines.files import Files
from brokernat.pipelines.state import Owner, State, foreign, locked, user_folder

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MINE = Owner("tags", "cluster-a", ("orders",))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, []),
        (MINE, []),
        (Owner("tags", "cluster-a", ()), []),
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
    state.claim(files, Owner("tags", "cluster-a", ("orders", "more")))
    assert state.owner(files) == Owner("tags", "cluster-a", ("orders", "more"))


def test_a_folder_is_held_by_one_run(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(ConfigError, match="another process runs this pipeline"), locked(tmp_path):
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
