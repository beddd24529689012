"""Java's syntax, where it is not what people think it is."""

import pytest

from brokernat.config.java_properties import parse_properties
from brokernat.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", [("a", "b")]),
        ("a = b ", [("a", "b ")]),
        ("  a\t:\tb", [("a", "b")]),
        ("a b=c", [("a", "b=c")]),
        ("a==b", [("a", "=b")]),
        ("a", [("a", "")]),
        ("a=", [("a", "")]),
        ("=b", [("", "b")]),
        ("# a=b\n! c=d\n\n  # e=f", []),
        ("a=b # c", [("a", "b # c")]),
        ("a=1\na=2", [("a", "1"), ("a", "2")]),
        ("a=b,\\\n   c", [("a", "b,c")]),
        ("a=b,\\\n\n   c=d", [("a", "b,"), ("c", "d")]),
        ("a=b,\\\n # no comment", [("a", "b,# no comment")]),
        ("# comment \\\na=b", [("a", "b")]),
        ("a=b\\\\\nc=d", [("a", "b\\"), ("c", "d")]),
        ("a=b\\", [("a", "b")]),
        ("a\n\\", [("a", ""), ("", "")]),
        ("a\\ b\\=c=d", [("a b=c", "d")]),
        ("a=\\u0041\\t\\q", [("a", "A\tq")]),
        ("a=1\r\nb=2\rc=3", [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a=C:\\\\kafka", [("a", "C:\\kafka")]),
    ],
)
def test_as_java_reads_it(text: str, found: list[tuple[str, str]]) -> None:
    assert [(each.name, each.value) for each in parse_properties(text, "x")] == found


@pytest.mark.parametrize("text", ["a=\\u12", "a=\\uXYZW", "\\u=1"])
def test_java_refuses(text: str) -> None:
    with pytest.raises(ConfigError, match=r"four hexadecimal digits.*: x line 1"):
        parse_properties(text, "x")


def test_every_fault_and_the_line_where_a_property_begins() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_properties("a=\\u1\nb=1\nc=\\u2", "x")
    assert [problem.location.line for problem in caught.value.problems] == [1, 3]
    assert [each.line for each in parse_properties("a=1\n# b\nc=2,\\\n  3\nd=4", "x")] == [1, 3, 5]


@pytest.mark.parametrize(
    ("value", "dropped"),
    [("or\\bit9", True), ("or\\\\bit9", False), ("a\\tb\\u0041", False), ("a\\=b\\ c", False), ("a\\\\\\d", True)],
)
def test_a_backslash_before_a_letter_without_a_meaning_is_dropped(value: str, dropped: bool) -> None:
    (found,) = parse_properties(f"password={value}", "x")
    assert found.drops_backslash is dropped
