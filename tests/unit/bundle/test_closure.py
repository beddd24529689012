import pytest

from brokernat.bundle.closure import Requirement, closure, installed_extras, known_extras
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("click>=8.1", Requirement("click", frozenset(), frozenset())),
        ("ruamel.yaml >=0.18", Requirement("ruamel-yaml", frozenset(), frozenset())),
        ("a[x, Y_z]; python_version < '3.12'", Requirement("a", frozenset({"x", "y-z"}), frozenset())),
        ('pyspark<5,>=4.0; extra == "spark"', Requirement("pyspark", frozenset(), frozenset({"spark"}))),
        ("a @ file:///a.whl ; os_name == 'nt' and extra=='B_c'", Requirement("a", frozenset(), frozenset({"b-c"}))),
    ],
)
def test_a_requirement(text: str, requirement: Requirement) -> None:
    assert Requirement.parse(text) == requirement


def test_without_extras_only_what_is_always_needed() -> None:
    names = [owner.metadata["Name"] for owner in closure([])]
    assert names[0] == "brokernat"
    assert {"click", "pydantic", "pydantic_core", "rich", "ruamel.yaml"} <= set(names)
    assert "pyspark" not in names


def test_an_extra_brings_its_own_and_what_these_need() -> None:
    names = {owner.metadata["Name"] for owner in closure(["spark"])}
    assert {"pyspark", "py4j"} <= names


def test_extras_that_are_not_there_are_told_all_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        closure(["sprak", "kafka", "spark"])
    assert [problem.message for problem in error.value.problems] == [
        "brokernat has no extra `kafka`",
        "brokernat has no extra `sprak`",
    ]


def test_what_is_installed_here_is_the_default() -> None:
    assert {"spark", "shipping"} <= set(installed_extras()) <= set(known_extras())
