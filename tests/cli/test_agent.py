from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    jar = tmp_path / "built" / "brokernat-agent.jar"
    jar.parent.mkdir()
    jar.write_bytes(b"jar")
    monkeypatch.setattr("brokernat.jvm.agent_jar", lambda: jar)
    return jar


@pytest.mark.parametrize(
    "line", ["", "--path", "--path --format json", "--copy-to a/b", "--path --copy-to a", "--copy-to password"]
)
@pytest.mark.usefixtures("jar")
def test_agent(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("agent", *line.split()) == snapshot


@pytest.mark.usefixtures("jar")
def test_a_copy_replaces_an_older_one(run: Run, folder: Path) -> None:
    (folder / "brokernat-agent.jar").write_bytes(b"older")
    run("agent", "--copy-to", ".")
    assert (folder / "brokernat-agent.jar").read_bytes() == b"jar"
    assert not list(folder.glob(".brokernat-*"))
