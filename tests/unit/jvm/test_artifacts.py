"""Requests to Ivy as text, its answers, and the cache; nothing is downloaded here."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from brokernat.errors import MissingToolError
from brokernat.jvm import artifacts, resolve
from brokernat.jvm.artifacts import Coordinate, ivy_module, unresolved

# As Ivy 2.5.3 ends when it does not find something.
_NOT_FOUND = """
		::::::::::::::::::::::::::::::::::::::::::::::
		::          UNRESOLVED DEPENDENCIES         ::
		::::::::::::::::::::::::::::::::::::::::::::::
		:: no.such#thing;1: not found
		::::::::::::::::::::::::::::::::::::::::::::::
"""
_NO_DOWNLOAD = """
		::::::::::::::::::::::::::::::::::::::::::::::
		::              FAILED DOWNLOADS            ::
		:: ^ see resolution messages for details  ^ ::
		::::::::::::::::::::::::::::::::::::::::::::::
		:: org.apache.kafka#kafka-tools;4.4.0!kafka-tools.jar
		::::::::::::::::::::::::::::::::::::::::::::::
"""


def test_the_question_to_ivy() -> None:
    text = ivy_module(
        [Coordinate.parse("a.b:c:1"), Coordinate.parse("a.b:d:2:test&more")], ["x:y", "z:*"], transitive=False
    )
    assert '<dependency org="a.b" name="c" rev="1" conf="default-&gt;default" transitive="false">' in text
    assert '<artifact name="d" type="jar" m:classifier="test&amp;more"/>' in text
    assert '<exclude org="x" module="y"/>\n<exclude org="z" module="*"/>' in text


@pytest.mark.parametrize("text", ["a:b", "a:b:c:d:e", "a::1", ""])
def test_a_coordinate_has_three_parts_or_four(text: str) -> None:
    with pytest.raises(ValueError, match="group:artifact:version"):
        Coordinate.parse(text)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (_NOT_FOUND, ("no.such:thing:1",)),
        (_NO_DOWNLOAD, ("org.apache.kafka:kafka-tools:4.4.0",)),
        (_NOT_FOUND + _NOT_FOUND, ("no.such:thing:1",)),
        ("	found commons-io#commons-io;2.16.1 in public", ()),
    ],
)
def test_what_ivy_could_not_get(said: str, names: tuple[str, ...]) -> None:
    assert unresolved(said) == names


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "brokernat"


def test_one_request_is_filled_once_also_by_many_at_a_time(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[str] = []

    def fill(work: Path, request: artifacts._Request, settings: Path | None) -> None:
        filled.append(request.key())
        (work / "b.jar").touch()
        (work / "a.jar").touch()

    monkeypatch.setattr(artifacts, "_fill", fill)
    found: list[tuple[Path, ...]] = []
    threads = [threading.Thread(target=lambda: found.append(resolve(["g:a:1"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(filled) == 1
    assert len(set(found)) == 1
    assert [jar.name for jar in found[0]] == ["a.jar", "b.jar"]
    resolve(["g:a:1"], exclude=["x:y"])
    resolve(["g:a:1"], transitive=False)
    assert len(set(filled)) == 3


def test_what_fails_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Path, request: artifacts._Request, settings: Path | None) -> None:
        (work / "half.jar").touch()
        raise MissingToolError("cannot resolve g:a:1")

    monkeypatch.setattr(artifacts, "_fill", fail)
    with pytest.raises(MissingToolError):
        resolve(["g:a:1"])
    assert [entry.name for entry in (cache / "artifacts").iterdir()] == [".lock"]


def test_without_pyspark_the_package_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingToolError) as error:
        artifacts._ivy_jar()
    assert error.value.hint == "pip install 'brokernat[spark]', or for a testbed 'brokernat[testbed]'"
