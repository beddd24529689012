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
