"""Which packages travel; how requirements are read is `packaging`'s own matter."""

from importlib.metadata import Distribution, PackageNotFoundError
from typing import Any

import pytest

from brokernat.bundle import packages
from brokernat.bundle.packages import installed_extras, known_extras, required_distributions
from brokernat.errors import ConfigError

INSTALLED = {
    "brokernat": ("1", ["Click>=8", "gone; python_version < '3'", 'tool[Fast_er]<3 ; extra == "b_c"'], ["B_c"]),
    "click": ("8.1", ['colorama; sys_platform == "win32"'], []),
    "tool": ("2", ['base ; extra == "fast-er"', 'unused ; extra == "other"'], ["fast-er", "other"]),
    "base": ("1", ["tool"], []),
}


class Fake(Distribution):
    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        version, requires, extras = INSTALLED[self._name]
        lines = [f"Name: {self._name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {one}" for one in requires] + [f"Provides-Extra: {one}" for one in extras]
        return "\n".join(lines) if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, list[str], list[str]]]:
    def find(name: str) -> Distribution:
        if name not in INSTALLED:
            raise PackageNotFoundError(name)
        return Fake(name)

    monkeypatch.setattr(packages, "distribution", find)
    monkeypatch.setattr(f"{__name__}.INSTALLED", dict(INSTALLED))
    return INSTALLED


def names(*extras: str) -> list[str]:
    return [owner.metadata["Name"] for owner in required_distributions(extras)]


@pytest.mark.usefixtures("environment")
def test_markers_and_extras_are_those_of_this_environment() -> None:
    assert names() == ["brokernat", "click"]
    assert names("b-c") == names("B_C") == ["brokernat", "base", "click", "tool"]
    assert installed_extras() == ("b-c",)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("version", "here"), [("3", "3 is"), (None, "it is not")])
def test_what_would_be_missing_there_is_refused_here(version: str | None, here: str) -> None:
    INSTALLED["base"] = ("1", ["missing>=4"], [])
    if version:
        INSTALLED["missing"] = (version, [], [])
    with pytest.raises(ConfigError, match=f"base needs `missing>=4`, and {here} installed here"):
        names("b-c")


def test_without_extras_only_what_is_always_needed() -> None:
    found = names()
    assert found[0] == "brokernat"
    assert {"click", "pydantic", "pydantic_core", "rich", "ruamel.yaml"} <= set(found)
    assert "pyspark" not in found


def test_an_extra_brings_its_own_and_what_these_need() -> None:
    assert {"pyspark", "py4j"} <= set(names("spark"))


def test_extras_that_are_not_there_are_told_all_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        required_distributions(["sprak", "kafka", "spark"])
    assert [problem.message for problem in error.value.problems] == [
        "brokernat has no extra `kafka`",
        "brokernat has no extra `sprak`",
    ]


def test_what_is_installed_here_is_the_default() -> None:
    assert {"spark", "shipping"} <= set(installed_extras()) <= set(known_extras())
