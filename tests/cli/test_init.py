from collections.abc import Callable
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]


def test_a_starter_file_is_written_and_is_in_order(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    assert run("init", "--config", "new.yaml") == snapshot
    assert run("config", "check", "--config", "new.yaml", "--skip-secrets") == snapshot
    assert run("map", "check", "--config", "new.yaml").startswith("exit 0\n")


def test_an_existing_file_is_left_alone(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    before = (folder / "brokernat.yaml").read_bytes()
    assert run("init") == snapshot
    assert (folder / "brokernat.yaml").read_bytes() == before


def test_a_dangling_link_is_left_alone(run: Run, folder: Path) -> None:
    (folder / "link.yaml").symlink_to(folder / "elsewhere.yaml")
    assert run("init", "--config", "link.yaml").startswith("exit 2\n")
    assert not (folder / "elsewhere.yaml").exists()


def test_a_folder_that_is_not_there(run: Run, snapshot: SnapshotAssertion) -> None:
    assert run("init", "--config", "no/such/folder.yaml") == snapshot


def test_a_starter_file_on_stdout(run: Run, folder: Path) -> None:
    run("init", "--config", "new.yaml")
    said = run("init", "--config", "-")
    assert said == f"exit 0\n--- stdout\n{(folder / 'new.yaml').read_text()}--- stderr\n"
    assert not (folder / "-").exists()
