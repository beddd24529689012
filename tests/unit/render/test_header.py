"""The head of every file: a comment from the first line to the last, prose wrapped, commands and maps whole."""

from __future__ import annotations

from collections.abc import Callable

from brokernat.address import fingerprint
from brokernat.render import Subject
from brokernat.render.header import Header

WIDTH = 120
COMMAND = "nft " + "x" * 150


def test_prose_is_wrapped_and_commands_are_not(about: Callable[..., Subject]) -> None:
    header = Header("Title", can=["word " * 50], cannot=["a", "b"], check=["nginx -t"], apply=[COMMAND])
    lines = header.text(about(), ["the map=" + "y" * 150]).splitlines()
    assert all(line == "#" or line.startswith("# ") for line in lines)
    assert f"# apply    {COMMAND}" in lines
    assert "# the map=" + "y" * 150 in lines
    assert lines[-1] == "# the map=" + "y" * 150
    assert "# cannot   a" in lines
    assert "#          b" in lines
    assert all(len(line) <= WIDTH for line in lines if "word" in line)
    assert sum(line.count("word") for line in lines) == 50


def test_the_origin(about: Callable[..., Subject]) -> None:
    subject = about()
    text = Header("Title", (), (), (), ()).text(subject)
    assert text.splitlines()[:3] == [
        "# Title (cluster hq)",
        "# Made from brokernat.yaml by `brokernat render`.",
        f"# Address map: sha256 {fingerprint(subject.address_map)}",
    ]


def test_a_line_end_in_a_command_line_does_not_end_the_comment() -> None:
    text = Header("Title", can=["a"], cannot=["b"], check=["c"], apply=["d"]).comment(
        "t", ["`--image 'x\n\nevil: 1'`"], ["a\rb"]
    )
    assert all(line == "#" or line.startswith("# ") for line in text.splitlines())
    assert "# evil: 1'`" in text.splitlines()
