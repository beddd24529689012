from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in (("rdkafka", "plugin_library"), ("preload", "preload_library")):
        library = tmp_path / "built" / f"libbrokernat-{name}.so"
        library.parent.mkdir(exist_ok=True)
        library.write_bytes(b"library")
        monkeypatch.setattr(f"brokernat.clients.librdkafka.{function}", lambda library=library: library)


@pytest.mark.parametrize(
    "line", ["", "--path --format json", "--preload", "--copy-to a/b", "--preload --copy-to a", "--path --copy-to a"]
)
@pytest.mark.usefixtures("libraries")
def test_plugin(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("plugin", *line.split()) == snapshot
