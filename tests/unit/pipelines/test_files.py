"""What is known of a path without the file system that it is on, and how small local files are replaced."""

from pathlib import Path
from typing import Any

import pytest

from brokernat.pipelines.checkpoint import files
from brokernat.pipelines.checkpoint.files import Files, unnamed

PATHS = {"checkpoint": "/work/state/tags", "references.customers.path": "hdfs://nn:8020/customers.csv"}


def test_a_path_of_the_file_s_folder_is_not_looked_for_on_hdfs() -> None:
    (found,) = unnamed(PATHS, "hdfs://nn:8020/")
    assert found.message == (
        "`checkpoint: /work/state/tags` names no file system, and Spark's default is hdfs://nn:8020/ (fs.defaultFS)"
    )
    assert found.hint == (
        "write `hdfs://nn:8020/...` for storage that all hosts share, or `file:///work/state/tags` for this host's disk"
    )


@pytest.mark.parametrize("default", ["file:///", "file:/"])
def test_on_this_machine_s_own_file_system_every_path_is_clear(default: str) -> None:
    assert unnamed(PATHS, default) == ()


def test_a_path_that_names_this_host_s_disk_is_clear() -> None:
    assert unnamed({"checkpoint": "file:///work/state"}, "hdfs://nn:8020") == ()


def test_the_old_text_stays_until_the_new_one_replaces_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may be killed at any point, and a checkpoint without its owner is not continued."""
    spark: Any = None
    at = tmp_path / "state" / "owner.json"
    Files(spark).write_text(str(at), "old")
    assert at.read_text() == "old"

    def killed(made: Path, target: Path) -> None:
        assert (made.read_text(), target.read_text()) == ("new", "old")
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "exchange", killed)
    with pytest.raises(KeyboardInterrupt):
        Files(spark).write_text(f"file:{at}", "new")
    assert at.read_text() == "old"
    monkeypatch.undo()
    Files(spark).write_text(f"file:{at}", "new")
    assert [each.name for each in at.parent.iterdir()] == ["owner.json"]
    assert at.read_text() == "new"
