"""What is known of a path without the file system that it is on."""

import pytest

from brokernat.pipelines.checkpoint.files import unnamed

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
