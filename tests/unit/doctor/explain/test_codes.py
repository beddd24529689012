"""Codes as people type them."""

import pytest

from brokernat.cli.explain import codes_in, entries_of
from brokernat.doctor.checks import catalogue
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("BN302", ["BN302"]),
        ("bn-302", ["BN302"]),
        ("BN302, bn301;BN302", ["BN302", "BN301"]),
        ("BN999", ["BN999"]),
        ("", None),
        ("BN302 is what?", None),
        ("BN302x", None),
    ],
)
def test_what_is_a_code(text: str, codes: list[str] | None) -> None:
    assert codes_in(text) == codes


def test_every_code_is_explained() -> None:
    for entry in entries_of(list(catalogue())):
        assert all((entry.title, entry.what, entry.why, entry.remedy)), entry.code


@pytest.mark.parametrize(("code", "alike"), [("BN300", "BN302"), ("BN30", "BN301"), ("BN3022", "BN302")])
def test_an_unknown_code_names_those_that_look_like_it(code: str, alike: str) -> None:
    with pytest.raises(ConfigError) as raised:
        entries_of([code, "BN302"])
    assert raised.value.problems[0].code == "unknown-code"
    assert alike in (raised.value.hint or "")


def test_a_code_like_no_other_gets_the_list() -> None:
    with pytest.raises(ConfigError) as raised:
        entries_of(["BN9"])
    assert "BN302" in (raised.value.hint or "")
