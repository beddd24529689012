"""What an input of a few lines may also mean, where its lines are of no kind and name no error as clients do; pure.

Such an input was pasted for one problem, so more is read into it than into a log: texts that were wrapped, steps of a
program's ordinary work, and the errors of Kafka's protocol in spellings that no client has. People retype errors, and
programs have names of their own for them: `Topicauthoizationexception`, `'MessageTooLarge'`, `not-enough-replicas`,
`err_code: 7`. A name is compared without case and separators, a long one with a wrong letter or two, a sentence without
case and punctuation; a number counts only beside words of Kafka. Names that other programs have, too, count only if the
input names Kafka.

Titles of forums and viewers of logs cut lines. If a line names Kafka and its end is cut, it means what all known texts
mean that begin as it ends, if that is one thing. Only the constant texts of kinds count, so nothing of an example gets
into an answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from itertools import islice, pairwise
from typing import Final, NamedTuple, TypeAlias

from brokernat.doctor.explain.known_errors import is_frame, known_errors, protocol_errors
from brokernat.doctor.explain.known_lines import KnownLine, Tells, known_lines
from brokernat.doctor.explain.log_text import timestamp, wording_of
from brokernat.doctor.explain.matching import LineMatch, is_calm, match_line, match_step
from brokernat.doctor.explain.peers import peer_of
from brokernat.doctor.explain.surroundings import is_of_stack, names_kafka
from brokernat.text import printable

LINES: Final = 30
"""The most lines of a short input."""

_Error: TypeAlias = "tuple[KnownLine, re.Match[str]]"
# A line that reports a failure, whoever wrote it; `error=NONE` reports none.
_TROUBLE = re.compile(
    r"\b(?:[Ff]ail(?:ed|ure|s|ing)?|FAILED|[Ee]rror(?!['\"]?\s?[=:]\s?(?:NONE|[Nn]one|null|nil|0)\b)|ERROR|FATAL|"
    r"[Ff]atal|[Uu]nable|[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't|refused|denied|timed out|[Tt]imeout reached|panic|"
    r"[Aa]borted|[Kk]illed|[Gg]iving up|gave up|[Nn]ot ready)\b|"
    r"Exception\b|\bexit(?:ed)? (?:with )?(?:code|status) [1-9]"
)
_TOKEN = re.compile(r"[A-Za-z][A-Za-z_-]{7,60}")
_NOT_LETTERS = re.compile(r"[^a-z]+")
_BEFORE = re.compile(r"^(?:rdkafkaresp|resp|kafka)?(?:err(?:or)?)(?:code)?")
_AFTER = re.compile(r"(?:exception|error|code)$")
# A shorter name may be near an ordinary word.
_SHORTEST_NAME, _LONGEST_NAME = 10, 50
# The similarity of a long name with a wrong letter or two.
_NEARLY: Final = 0.9
_SENTENCE: Final = 16
# Beside a line that names Kafka, words of these are enough; the others may be anybody's.
_OF_KAFKA = re.compile(
    "topic|partition|broker|leader|replica|coordinator|offset|producer|transactional|generation|member|sasl|"
    "rebalance|record ?list|record ?too ?large|record ?batch|group ?proto|group ?auth|cluster ?auth|kafka|"
    "fenced ?instance"
)
# What is Kafka's even if nothing else names it.
_OF_KAFKA_ALONE = re.compile("in sync replicas|topic partition|topic or partition|consumer group|topic authorization")
_ANY = re.compile("")
_NUMBER = re.compile(
    r"(?i)(?<![A-Za-z])(?<!exit )(?<!status )(?<!exited with )(?<!http )(?<!return )(?<!response )(?<!exit with )"
    r"(?:(?:kafka[ _-]?)?err(?:or)?[ _-]?(?:code|num(?:ber)?)|(?:kafka )?error|code)['\"]?\s?"
    r"(?:is|was|of|=>|->|[=:#(])?\s?"
    # Spring Boot prints the process id behind the level: `ERROR 17 --- [main]`.
    r"['\"]?(-?\d{1,3})(?![\w.:%-]| --- \[)"
)
_BESIDE_NUMBER = re.compile(
    r"(?i)kafka|\b(?:topic|partition|broker|offset|produce|fetch|metadata|(?:join|sync)[ _]?group|coordinator)"
)
# Numbers of the operating system and of HTTP.
_OTHER_NUMBER = re.compile(
    r"(?i)errno(?!: -?\d{1,3}, code)|exit(?:ed)?\b|http|signal|winerror|socket error|system error|sqlstate|ORA-"
)


# Where a mail or a page breaks a line; and what begins a line of its own.
_NARROWEST, _WIDEST, _BROKEN = 40, 260, 4
_ENDS = (".", ")", "]", "}", ";")
_BEGINS = re.compile(
    r"\s|at |Caused by|Suppressed|\.{3} |[\[{(%<>#*|]|\d{2,4}[-/:.]\d\d|[A-Z][a-z]{2} {1,2}\d+ \d\d:|"
    r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\b|[\w.-]{1,60} +\| "
)
_CLASS = re.compile(r"(?:[a-z]\w*\.){2,12}[A-Z]")

# What is left in the place of the rest of a line; a title may be in quotes.
_ELLIPSIS = re.compile(r"\s?(?:\.{3}|…)['\")\]»”]?$")
# The characters that a cut text shares with a known one at least.
_SHARED = 14
_WORD_START = re.compile(r"(?<![A-Za-z0-9])(?=[\w\[])")
_SEPARATOR = re.compile(r"[:.;] ")
_IS_CUT: Final = "The line is cut here, and what is missing may say more."


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
    while at < len(lines):
        count, whole = next(_wholes(lines[at : at + _BROKEN]), (1, lines[at]))
        yield whole
        at += count


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
    for number, text in enumerate(map(_shown, lines)):
        match = match_step(text)
        if match:
            yield Found(number, match, text)


def named_loosely(lines: Iterable[str]) -> Iterator[Found]:
    """The errors that lines name in a spelling of their own, by a sentence or by a number."""
    return _errors(lines, error_named_loosely)


def numbered(lines: Iterable[str]) -> Iterator[Found]:
    """The errors that lines name by a number."""
    return _errors(lines, error_numbered)


def cut(lines: Iterable[str]) -> Iterator[Found]:
    """The kinds of lines that end with an ellipsis, or of the last line if it ends in a word."""
    texts = [text for text in map(_shown, lines) if text]
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


def is_harmless_beside_trouble(match: LineMatch, lines: Iterable[str]) -> bool:
    """Whether the line is a step, and a line of no kind reports a failure: then no step is called harmless."""
    known = match.known
    if not (known.calm and known.fallback and known.tells is Tells.STEP):
        return False
    return any(_TROUBLE.search(text) and not match_step(text) and not match_line(text) for text in lines)


def _errors(lines: Iterable[str], find: Callable[..., _Error | None]) -> Iterator[Found]:
    texts = [*map(_shown, lines)]
    kafkas = any(map(names_kafka, texts))
    for number, text in enumerate(texts):
        if error := find(text, kafkas=kafkas):
            known, words = error
            yield Found(number, LineMatch(known, peer_of(words, known.role), words.end()), text)


def _shown(line: str) -> str:
    return printable(line.strip().replace("\t", " "))


def error_named_loosely(line: str, *, kafkas: bool) -> _Error | None:
    """The error that a line names; `kafkas`: the input names Kafka."""
    if is_frame(line) or is_calm(line):
        return None
    if not kafkas:
        return _by_sentence(line, _OF_KAFKA_ALONE)
    words = _ANY if names_kafka(line) else _OF_KAFKA
    return _by_name(line, words) or _by_sentence(line, words) or error_numbered(line, kafkas=kafkas)


def error_numbered(line: str, *, kafkas: bool) -> _Error | None:
    """The error whose number a line has beside words of Kafka."""
    if not kafkas:
        return None
    number = _NUMBER.search(line)
    if not number or _OTHER_NUMBER.search(line) or not _BESIDE_NUMBER.search(line):
        return None
    known = _codes().get(int(number[1]))
    return (known, number) if known else None


def _by_name(line: str, words: re.Pattern[str]) -> _Error | None:
    for token in _TOKEN.finditer(line):
        name = _squeezed(token[0])
        known = _names().get(name)
        is_name = token[0] != token[0].lower() or "_" in token[0] or "-" in token[0]
        if not known and is_name and _SHORTEST_NAME < len(name) <= _LONGEST_NAME:
            known = next((_names()[each] for each in get_close_matches(name, _names(), 1, _NEARLY)), None)
        if known and is_name and words.search(name):
            return known, token
    return None


def _by_sentence(line: str, words: re.Pattern[str]) -> _Error | None:
    text = f" {_NOT_LETTERS.sub(' ', line.lower())} "
    for sentence, known in _sentences():
        if sentence in text and words.search(sentence):
            spelled = re.compile(r"[^A-Za-z]+".join(sentence.split()), re.IGNORECASE).search(line)
            return (known, spelled) if spelled else None
    return None


def _squeezed(name: str) -> str:
    return _AFTER.sub("", _BEFORE.sub("", _NOT_LETTERS.sub("", name.lower())))


@cache
def _names() -> dict[str, KnownLine]:
    all_names = ((_squeezed(name), known) for names, _, _, known in _all() for name in names)
    return {name: known for name, known in all_names if len(name) >= _SHORTEST_NAME}


@cache
def _sentences() -> tuple[tuple[str, KnownLine], ...]:
    """The sentences as words between blanks, the longest first."""
    found = {
        f" {words} ": known
        for _, sentences, _, known in _all()
        for text in sentences
        if len(words := _NOT_LETTERS.sub(" ", text.lower()).strip()) >= _SENTENCE
    }
    return tuple(sorted(found.items(), key=lambda each: -len(each[0])))


@cache
def _codes() -> dict[int, KnownLine]:
    return {code: known for _, _, code, known in _all() if code > 0 or code < -1}


def _all() -> Iterator[tuple[list[str], list[str], int, KnownLine]]:
    by_key = {known.key: known for known in known_errors()}
    for key, names, sentences, code in protocol_errors():
        yield names, sentences, code, by_key[key]
