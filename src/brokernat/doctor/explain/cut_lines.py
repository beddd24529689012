"""Lines whose end is cut, as titles of forums and viewers of logs do; pure.

If such a line names Kafka, it means what all known texts mean that begin as it ends, if that is one thing. Only the
constant texts of kinds count, so nothing of an example gets into an answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Final

from brokernat.doctor.explain.known_errors import is_frame, known_errors
from brokernat.doctor.explain.known_lines import Tells, known_lines
from brokernat.doctor.explain.log_text import wording_of
from brokernat.doctor.explain.matching import match_line
from brokernat.doctor.explain.short_input import Found, shown
from brokernat.doctor.explain.surroundings import names_kafka

# What is left in the place of the rest of a line; a title may be in quotes.
_ELLIPSIS = re.compile(r"\s?(?:\.{3}|…)['\")\]»”]?$")
# The characters that a cut text shares with a known one at least.
_SHARED = 14
_WORD_START = re.compile(r"(?<![A-Za-z0-9])(?=[\w\[])")
_SEPARATOR = re.compile(r"[:.;] ")
# Where the constant text is behind the node.
_NODE = re.compile(r"Connection to node -?\d+(?: \([^()\s]{1,300}\))?(?P<rest> [\w .]{0,60})?$")
_AFTER_NODE: Final = " could not be established. Broker may not be available."
_IS_CUT: Final = "The line is cut here, and what is missing may say more."


def cut(lines: Iterable[str]) -> Iterator[Found]:
    """The kinds of lines that end with an ellipsis, or of the last line if it ends in a word."""
    texts = [text for text in map(shown, lines) if text]
    for number, text in enumerate(texts):
        ellipsis = _ELLIPSIS.search(text)
        ends_in_word = text[-1].isalnum() and number == len(texts) - 1
        if not (ellipsis or ends_in_word) or not names_kafka(text) or is_frame(text):
            continue
        kept = text[: ellipsis.start()] if ellipsis else text
        matches = ((whole, match_line(whole)) for whole in _completed(kept, in_word=not ellipsis))
        found = {whole: match for whole, match in matches if match and match.end > len(kept)}
        # A longer text only says more than one that it begins with.
        shortest = [match for whole, match in found.items() if sum(map(whole.startswith, found)) == 1]
        if ellipsis and not found:
            # A cut reason; what is before it may be whole.
            wholes = (match_line(kept[: each.start()]) for each in reversed([*_SEPARATOR.finditer(kept)]))
            shortest = [*islice((match for match in wholes if match and match.known.tells < Tells.WRAPPER), 1)]
        if len({match.known.key for match in shortest}) != 1:
            continue
        match, known = shortest[0], shortest[0].known
        if not (match.calm or known.fallback):
            said = tuple(replace(each, means=f"{each.means} {_IS_CUT}") for each in known.explanations)
            yield Found(number, replace(match, known=replace(known, explanations=said), end=len(text)), text)


def _completed(text: str, *, in_word: bool) -> Iterator[str]:
    """The text with the rest of each known text that begins as it ends."""
    wording = wording_of(text)
    if (node := _NODE.search(text)) and _AFTER_NODE.startswith(node["rest"] or ""):
        yield f"{text}{_AFTER_NODE.removeprefix(node['rest'] or '')}"
    for start in _WORD_START.finditer(text, 0, max(0, len(text) - _SHARED + 1)):
        at, length = start.start(), len(text) - start.start()
        for known in _by_beginning().get(wording[at : at + _SHARED], ()):
            goes_on = len(known) > length and wording_of(known).startswith(wording[at:])
            if goes_on and (known[length].isalnum() or not in_word):
                yield f"{text}{known[length:]}"


@cache
def _by_beginning() -> Mapping[str, list[str]]:
    """The constant texts of all kinds and errors by their first characters."""
    found: dict[str, list[str]] = defaultdict(list)
    for text in dict.fromkeys(text for known in (*known_lines(), *known_errors()) for text in known.holds):
        if len(text) > _SHARED:
            found[wording_of(text)[:_SHARED]].append(text)
    return found
