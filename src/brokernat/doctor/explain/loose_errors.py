"""Errors of Kafka's protocol in spellings that no client has; pure.

People retype errors, and programs have names of their own for them: `Topicauthoizationexception`, `'MessageTooLarge'`,
`not-enough-replicas`, `err_code: 7`. A name is compared without case and separators, a long one with a wrong letter or
two, a sentence without case and punctuation; a number counts only beside words of Kafka. Names that other programs
have, too, count only if the input names Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Final, TypeAlias

from brokernat.doctor.explain.known_errors import is_frame, known_errors, protocol_errors, whole_texts
from brokernat.doctor.explain.known_lines import KnownLine
from brokernat.doctor.explain.matching import is_calm
from brokernat.doctor.explain.surroundings import names_kafka

LooseError: TypeAlias = "tuple[KnownLine, re.Match[str]]"
"""An error, and where the line names it."""

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
# Alone in a line, words of these are enough, too.
_IN_WHOLE_LINE = re.compile(
    "message (?:size|batch)|required acks|group id|controller|throttling quota|share group|poll interval|fenced by|"
    "isr count|finalized features|log truncation|gap less ordering|delegation token requests|transaction timeout|"
    "(?:key|value) (?:de)?serial|contents does not match its crc|commit metadata"
)
_ANY = re.compile("")
_LEVEL = re.compile(r"^\W*(?:(?:error|warn(?:ing)?|fatal|failed|exception)\b\W*)*", re.IGNORECASE)
_ANYTHING = re.compile(r"\S.*\S")
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
# Numbers of the operating system, of HTTP and of databases.
_OTHER_NUMBER = re.compile(
    r"(?i)errno(?!: -?\d{1,3}, code)|exit(?:ed)?\b|http|signal|winerror|socket error|system error|sqlstate|ORA-|"
    r"\bDB::\w{0,20}Exception|e\.displayText\(\)|ClickHouse exception"
)


def error_named_loosely(line: str, *, kafkas: bool) -> LooseError | None:
    """The error that a line names; `kafkas`: the input names Kafka."""
    if is_frame(line) or is_calm(line):
        return None
    if not kafkas:
        return _by_sentence(line, _OF_KAFKA_ALONE) or _by_whole_line(line)
    words = _ANY if names_kafka(line) else _OF_KAFKA
    return _by_name(line, words) or _by_sentence(line, words) or error_numbered(line, kafkas=kafkas)


def error_numbered(line: str, *, kafkas: bool) -> LooseError | None:
    """The error whose number a line has beside words of Kafka."""
    if not kafkas:
        return None
    number = _NUMBER.search(line)
    if not number or _OTHER_NUMBER.search(line) or not _BESIDE_NUMBER.search(line):
        return None
    known = _codes().get(int(number[1]))
    return (known, number) if known else None


def _by_name(line: str, words: re.Pattern[str]) -> LooseError | None:
    for token in _TOKEN.finditer(line):
        name = _squeezed(token[0])
        known = _names().get(name)
        is_name = token[0] != token[0].lower() or "_" in token[0] or "-" in token[0]
        if not known and is_name and _SHORTEST_NAME < len(name) <= _LONGEST_NAME:
            known = next((_names()[each] for each in get_close_matches(name, _names(), 1, _NEARLY)), None)
        if known and is_name and words.search(name):
            return known, token
    return None


def _by_sentence(line: str, words: re.Pattern[str]) -> LooseError | None:
    text = f" {_NOT_LETTERS.sub(' ', line.lower())} "
    for sentence, known in _sentences():
        if sentence in text and words.search(sentence):
            spelled = re.compile(r"[^A-Za-z]+".join(sentence.split()), re.IGNORECASE).search(line)
            return (known, spelled) if spelled else None
    return None


def _by_whole_line(line: str) -> LooseError | None:
    """The error whose sentence is the whole line; then nothing else in the input needs to name Kafka."""
    words = _NOT_LETTERS.sub(" ", _LEVEL.sub("", line).lower()).strip()
    known = _whole_lines().get(words)
    whole = _ANYTHING.search(line)
    return (known, whole) if known and whole else None


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
def _whole_lines() -> dict[str, KnownLine]:
    """The errors by the words of a line that has nothing else."""
    by_key = {known.key: known for known in known_errors()}
    found = {}
    for key, text, is_name in whole_texts():
        words = _NOT_LETTERS.sub(" ", text.lower()).strip()
        if is_name or (" " in words and (_OF_KAFKA.search(words) or _IN_WHOLE_LINE.search(words))):
            found[words] = by_key[key]
    return found


@cache
def _codes() -> dict[int, KnownLine]:
    return {code: known for _, _, code, known in _all() if code > 0 or code < -1}


def _all() -> Iterator[tuple[list[str], list[str], int, KnownLine]]:
    by_key = {known.key: known for known in known_errors()}
    for key, names, sentences, code in protocol_errors():
        yield names, sentences, code, by_key[key]
