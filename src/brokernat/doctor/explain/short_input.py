"""What an input of a few lines may also mean, where its lines are of no kind and name no error as clients do; pure.

Such an input was pasted for one problem, so more is read into it than into a log: texts that were wrapped, steps of a
program's ordinary work, errors in spellings that no client has (`loose_errors`), and lines whose end is cut, as titles
of forums and viewers of logs do. If a cut line names Kafka, it means what all known texts mean that begin as it ends,
if that is one thing. Only the constant texts of kinds count, so nothing of an example gets into an answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from typing import Final, NamedTuple

from brokernat.doctor.explain.known_errors import is_frame, known_errors
from brokernat.doctor.explain.known_lines import Tells, known_lines
from brokernat.doctor.explain.log_text import timestamp, wording_of
from brokernat.doctor.explain.loose_errors import LooseError, error_named_loosely, error_numbered
from brokernat.doctor.explain.matching import LineMatch, match_line, match_step
from brokernat.doctor.explain.peers import peer_of
from brokernat.doctor.explain.surroundings import is_of_stack, names_kafka
from brokernat.text import printable

LINES: Final = 30
"""The most lines of a short input."""

# A line that reports a failure, whoever wrote it; `error=NONE` reports none.
_TROUBLE = re.compile(
    r"\b(?:[Ff]ail(?:ed|ure|s|ing)?|FAILED|[Ee]rror(?!['\"]?\s?[=:]\s?(?:NONE|[Nn]one|null|nil|0)\b)|ERROR|FATAL|"
    r"[Ff]atal|[Uu]nable|[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't|refused|denied|timed out|[Tt]imeout reached|panic|"
    r"[Aa]borted|[Kk]illed|[Gg]iving up|gave up|[Nn]ot ready)\b|"
    r"Exception\b|\bexit(?:ed)? (?:with )?(?:code|status) [1-9]"
)

# Where a mail or a page breaks a line; and what begins a line of its own.
_NARROWEST, _WIDEST, _BROKEN = 40, 260, 4
_ENDS = (".", ")", "]", "}", ";")
_BEGINS = re.compile(
    r"\s|at |Caused by|Suppressed|\.{3} |[\[{(%<>#*|]|\d{2,4}[-/:.]\d\d|[A-Z][a-z]{2} {1,2}\d+ \d\d:|"
    r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\b|[\w.-]{1,60} +\| "
)
# An answer of a REST service as tools print it, each member on its own line.
_CODE_ALONE, _MESSAGE = re.compile(r'\s*\{?\s*"error_code": ?\d{3,5},\s*$'), re.compile(r'\s*"message": ?"')
_CLASS = re.compile(r"(?:[a-z]\w*\.){2,12}[A-Z]")


class Found(NamedTuple):
    """A meaning of the line with this number, counted from 0, and the line as a report shows it."""

    number: int
    match: LineMatch
    text: str


def wrapped(lines: Iterable[str]) -> Iterator[Found]:
    """The kinds of texts that were wrapped at their blanks, with the further lines indented."""
    whole, parts = "", 0
    for number, text in enumerate((*lines, "")):
        if whole and text[:1].isspace() and not is_of_stack(text):
            whole, parts = f"{whole} {text.strip()}", parts + 1
            continue
        match = match_line(whole, alone=True) if parts else None
        if match and not match.calm and not match.known.borrowed:
            yield Found(number, match, printable(whole))
        whole, parts = text.strip(), 0


def unbroken(lines: list[str]) -> Iterator[str]:
    """The lines; those that a mail or a page broke at its width are one, if only the whole means something."""
    at = 0
    lines = [*_whole_answers(lines)]
    while at < len(lines):
        count, whole = next(_wholes(lines[at : at + _BROKEN]), (1, lines[at]))
        yield whole
        at += count


def _whole_answers(lines: list[str]) -> Iterator[str]:
    """The lines; the code of a REST service and the message in the next line are one."""
    waiting = ""
    for line in lines:
        if waiting and _MESSAGE.match(line):
            yield f"{waiting.rstrip()} {line.lstrip()}"
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = line if _CODE_ALONE.match(line) else ""
        if not waiting:
            yield line
    if waiting:
        yield waiting


def _wholes(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The first lines as one, with their number; the longest first."""
    goes_on = [
        _NARROWEST <= len(first) <= _WIDEST
        and not first.endswith(_ENDS)
        and bool(second.strip())
        and not (_BEGINS.match(second) or timestamp(second) or (_CLASS.match(second) and not first.endswith(":")))
        for first, second in pairwise(line.rstrip() for line in lines)
    ]
    most = next((number for number, each in enumerate(goes_on, 1) if not each), len(lines))
    for count in range(most, 1, -1):
        parts = [line.strip("\r\n") for line in lines[:count]]
        alone = [match_line(part.strip()) for part in parts]
        if any(match and not (match.calm or match.known.borrowed) for match in alone[1:]):
            continue
        known = {match.known.key for match in alone if match}
        for between in (" ", ""):
            whole = between.join(part.rstrip() for part in parts)
            match = match_line(whole.strip())
            start = len(whole) - len(parts[-1].rstrip())
            if match and match.known.key not in known and match.end > start and match.known.tells < Tells.STEP:
                yield count, f"{whole}\n"


def steps(lines: Iterable[str]) -> Iterator[Found]:
    """The steps of a program's ordinary work."""
    for number, text in enumerate(map(shown, lines)):
        match = match_step(text)
        if match:
            yield Found(number, match, text)


def named_loosely(lines: Iterable[str]) -> Iterator[Found]:
    """The errors that lines name in a spelling of their own, by a sentence or by a number."""
    return _errors(lines, error_named_loosely)


def numbered(lines: Iterable[str]) -> Iterator[Found]:
    """The errors that lines name by a number."""
    return _errors(lines, error_numbered)


def is_harmless_beside_trouble(match: LineMatch, lines: Iterable[str]) -> bool:
    """Whether the line is a step, and a line of no kind reports a failure: then no step is called harmless."""
    known = match.known
    if not (known.calm and known.fallback and known.tells is Tells.STEP):
        return False
    return any(_TROUBLE.search(text) and not match_step(text) and not match_line(text) for text in lines)


def _errors(lines: Iterable[str], find: Callable[..., LooseError | None]) -> Iterator[Found]:
    texts = [*map(shown, lines)]
    kafkas = any(map(names_kafka, texts))
    for number, text in enumerate(texts):
        if error := find(text, kafkas=kafkas):
            known, words = error
            yield Found(number, LineMatch(known, peer_of(words, known.role), words.end()), text)


def shown(line: str) -> str:
    """A line as a report shows it."""
    return printable(line.strip().replace("\t", " "))


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
