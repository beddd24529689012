from pathlib import Path

import pytest

from brokernat import map_text
from brokernat.address import Unmapped
from brokernat.errors import ConfigError
from brokernat.map_text import map_from_property


def test_text_and_file_are_the_same_map(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("\ufeff# hq\na:1 = b:1   # first\n\nc = d\n", "utf-8")
    assert map_from_property(f"file:{file}", Unmapped.PASS) == map_from_property("a:1=b:1,c=d", Unmapped.PASS)


def test_faults_of_a_file_have_its_name_and_lines(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("a:1 = b:1\n  a:1 = b\n")
    with pytest.raises(ConfigError) as caught:
        map_from_property(f"file:{file}")
    assert str(caught.value.problems[0].location) == f"{file} line 2, column 3"


@pytest.mark.parametrize("text", ["- a:1 = b:1\n", "# x\nclusters:\n  hq: {}\n", "address_map:\n- a=b\n", "  - a = b"])
def test_yaml_is_recognised(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        map_from_property(f"file:{file}")
    (problem,) = caught.value.problems
    assert problem.code == "rules-file-is-yaml"
    assert "brokernat map export" in str(problem.hint)


def test_a_rule_that_begins_like_yaml_is_a_rule(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("clusters:9092 = 10.0.0.1:9093\n")
    assert len(map_from_property(f"file:{file}").rules) == 1


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rules"
    file.write_text("a:1=b:1\nc:1=d:1")
    monkeypatch.setattr(map_text, "_MAX_FILE", 15)
    assert len(map_from_property(f"file:{file}").rules) == 2
    # Cut at the end of a rule, it would still be a map.
    monkeypatch.setattr(map_text, "_MAX_FILE", 7)
    with pytest.raises(ConfigError, match="File too large"):
        map_from_property(f"file:{file}")


@pytest.mark.parametrize(("content", "kind"), [(None, "file-unreadable"), (b"\xff\xfe", "file-unreadable")])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, kind: str) -> None:
    file = tmp_path / "rules"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        map_from_property(f"file:{file}")
    assert caught.value.problems[0].code == kind
