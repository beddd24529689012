"""Broken syntax; whole reports are among the broken files."""

import pytest

from brokernat.config.document import Document, compose, parse_document, path_text
from brokernat.errors import ConfigError


def place(document: Document, *path: str | int, key: bool = False) -> tuple[int | None, int | None]:
    location = document.locate(path, key=key)
    return location.line, location.column


def test_yaml_1_2_values() -> None:
    text = "a: [1, 0x1F, 0o17, 1.5, true, null, on, yes, 2024-01-01, '7', .inf]\nb: |\n  x\n  y\n"
    assert parse_document(text, "f").data == {
        "a": [1, 31, 15, 1.5, True, None, "on", "yes", "2024-01-01", "7", float("inf")],
        "b": "x\ny\n",
    }


def test_every_key_and_value_has_its_place() -> None:
    document = parse_document("clusters:\n  hq:\n    map:\n      - a\n      -   b\n  x:\n", "f.yaml")
    assert place(document, "clusters", "hq", "map", 1) == (5, 11)
    assert place(document, "clusters", "hq", "map", key=True) == (3, 5)
    assert place(document, "clusters", "x") == (6, 3)
    assert str(document.locate(("clusters", "hq", "map", 1))) == "f.yaml line 5, column 11, clusters.hq.map[1]"


def test_what_is_not_there_is_located_at_what_is_around_it() -> None:
    document = parse_document("clusters:\n  hq: {a: 1}\n", "f")
    assert place(document, "clusters", "hq", "missing", "deeper") == (2, 7)
    assert place(Document("f"), "clusters") == (None, None)


def test_all_duplicates_are_found_and_the_first_value_counts() -> None:
    document = parse_document("a: 1\nb: 2\na: 3\nb: 4\n", "f")
    assert document.data == {"a": 1, "b": 2}
    assert [(p.code, p.location.line) for p in document.problems] == [
        ("yaml-duplicate-key", 3),
        ("yaml-duplicate-key", 4),
    ]


def test_anchors_aliases_and_merges() -> None:
    text = "base: &base {a: 1, b: 2}\nsame: *base\nmore: {<<: *base, b: 3}\nmany: {<<: [*base, {c: 4}]}\n"
    document = parse_document(text, "f")
    assert document.data == {
        "base": {"a": 1, "b": 2},
        "same": {"a": 1, "b": 2},
        "more": {"b": 3, "a": 1},
        "many": {"a": 1, "b": 2, "c": 4},
    }
    assert place(document, "more", "a", key=True) == (1, 14)


@pytest.mark.parametrize("text", ["a: {<<: 1}", "a: {<<: [1]}"])
def test_merges_of_something_else(text: str) -> None:
    assert [problem.code for problem in parse_document(text, "f").problems] == ["yaml-merge"]


def test_keys_are_text() -> None:
    assert parse_document("1: a\ntrue: b\n", "f").data == {"1": "a", "true": "b"}
    assert [problem.code for problem in parse_document("? [a]\n: b\n", "f").problems] == ["yaml-key"]


def test_aliases_cannot_blow_up() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for one, two in zip("abcdefg", "bcdefgh", strict=True):
        bomb += f"{two}: &{two} [{', '.join([f'*{one}'] * 10)}]\n"
    with pytest.raises(ConfigError) as caught:
        parse_document(bomb, "f")
    assert caught.value.problems[0].code == "yaml-alias"


def test_sections_are_empty_where_the_file_has_something_else() -> None:
    document = parse_document("a: {b: {c: 1}}\nd: [1]\n", "f")
    assert document.section("a", "b") == {"c": 1}
    assert document.section("a", "x") == document.section("d") == document.section("a", "b", "c") == {}


def test_path_text() -> None:
    assert path_text(("clusters", "hq", "address_map", 1)) == "clusters.hq.address_map[1]"
    assert path_text(()) is None


@pytest.mark.parametrize("rule", ["*.hq:9092 = gw:9093", "[fd00::1]:9092 = gw:1", "[fd00::1] = [fd00::2]", "*.hq = gw"])
@pytest.mark.parametrize("around", ["  - {}\n", "  -   {}   # a comment: *x = 'y'\n", "  - {}\r\n"])
def test_rules_without_quotes_are_named_and_the_rest_is_read(rule: str, around: str) -> None:
    node, problems = compose("map:\n" + around.format(rule) + "  - after\n", "f")
    assert node is not None
    assert [problem.code for problem in problems] == ["yaml-unquoted-rule"]
    assert problems[0].hint == f'put quotes around the whole rule: - "{rule}"'
    (_, value), *_ = node.value
    assert [item.value for item in value.value] == [rule, "after"]


def test_a_second_syntax_error_is_reported_too() -> None:
    with pytest.raises(ConfigError) as caught:
        compose("map:\n  - *.hq = gw\nbad: [\n", "f")
    assert [problem.code for problem in caught.value.problems] == ["yaml-unquoted-rule", "yaml-syntax"]


@pytest.mark.parametrize(
    "value",
    ["*canary", "@canary", "%canary", '"\\canary"', "&canary &canary x", "{canary", "canary: canary: x", "!<canary x"],
)
def test_values_are_not_quoted(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compose(f"sasl.password: {value}\n", "f")
    assert "canary" not in caught.value.report()


def test_depth_is_an_error_and_no_crash() -> None:
    with pytest.raises(ConfigError) as caught:
        compose("[" * 1_000_000, "f")
    assert caught.value.problems[0].code == "yaml-depth"


def test_nothing() -> None:
    assert compose("# only a comment\n", "f") == (None, [])
