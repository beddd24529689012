"""The values of a line for the sentences about it."""

import re

from brokernat.doctor.explain.known_lines import Role
from brokernat.doctor.explain.peers import peer_of


def test_a_value_that_the_line_does_not_have_leaves_a_sentence_whole() -> None:
    match = re.match(r"too large(?: for (?P<topic>\w+))?", "too large")
    assert match is not None
    words = peer_of(match, Role.UNNAMED).words
    assert "The topic `{topic}` at {endpoint}".format_map(words) == (
        "The topic `…` at an endpoint that the line does not name"
    )


def test_a_class_is_named_as_programs_write_it() -> None:
    def shown(text: str) -> str:
        match = re.match(r"(?P<given>.+)", text)
        assert match is not None
        return peer_of(match, Role.UNNAMED).words["given"]

    assert shown("java.base/java.lang.Long") == "java.lang.Long"
    assert shown("[B") == "byte[]"
    assert shown("[[J") == "long[][]"
    assert shown("[Ljava.lang.String;") == "java.lang.String[]"
    assert shown("[orders]") == "[orders]"
