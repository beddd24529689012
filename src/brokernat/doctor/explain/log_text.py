r"""Turns a line of a log into the client's original lines, and finds their time; pure.

Terminals, log collectors and web pages change lines: colours, the JSON of docker, journald and logback with a whole
stack trace in one string, syslog's `#012` for a line end, YAML's folded texts, Markdown's quotes and emphasis, HTML's
tags and characters. This module removes these first, so the patterns need only the clients' text. JSON is not parsed:
a line may have a prefix, be cut in the middle, or hold nested JSON. Only the escapes are decoded, level by level.

Times are printed and never compared: the order is that of the log, and the time zone is unknown. Supported are the ISO
forms of log4j, logback and Python's logging, Spark's `26/11/21 18:32:05`, Go's `2026/11/21`, the month names of syslog
and java.util.logging, librdkafka's seconds since 1970, and the same in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, TextIO, TypeVar

Result = TypeVar("Result")

LONGEST: Final = 65536
"""Characters that are read at once; a longer line is read in several pieces."""
LONG: Final = 1500
"""Longer lines are searched in parts, and not cached."""

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9AB]|[@-Z\\^_])")
# What compose, syslog and `--timestamps` write before every line, and with it between an exception and its stack.
_COLLECTED = re.compile(
    r"(?:[\w.-]{1,60} {0,40}\| ?)?"
    r"(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S{1,80} \S{1,80}: |\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3,9}Z )"
    r"(?=\s*(?:at [\w.$/@-]+\(|\.{3} \d+ |Caused by: |Suppressed: |"
    r"(?:[a-zA-Z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Failure|Throwable)\b|[A-Z]\w*(?:Exception|Error): ))"
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_MEANINGS = {"n": "\n", "r": "\n", "t": "\t"}
# A stack in one line outside of JSON, as Go's `%q` and Python's `repr` write it, or ruby-kafka's list of seed brokers.
_STACK_IN_LINE = re.compile(
    r'\\n(?:\\t|\s){0,8}(?:at [\w.$]+[.(/]|Caused by: |Traceback |File \\?"|- kafka(?:\+ssl)?://)'
)
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "nbsp": " ", "#39": "'", "#34": '"'}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});")
# YAML folds a long text in double quotes: the line ends with a backslash, and the next one starts with one.
_FOLDED = re.compile(r"\s+\\(?=\s)")
_FOLDS = ("\\\n", "\\\r\n")
# A message and its stack mean different things.
_STACK = re.compile(r'"[\w.@-]*(?:[Ss]tack|[Ee]xception|[Tt]hrown)[\w.]*":\s*"')
# kafkajs's JSON, in another logger's message, in docker's file.
_LEVELS = 3

# A record over several lines: JSON, or an object as Node.js prints it.
_OPENS = re.compile(r"\{\s*$|\{ ?[\"']?[\w.@]{1,40}[\"']?: .*,\s*$")
_FIELD = re.compile(r"^(\{? ?)[\"']?([\w.@]{1,60})[\"']?\s*:\s*(.*?)\s*,?\s*$")
_LEVEL_FIRST = re.compile(r"(?:\[[^\]\n]{1,80}\] ?)?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\b(?!:)")
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_LEVEL = re.compile(r'"(?:log\.)?(?:level|severity)(?:_?name)?":')
_MESSAGE = re.compile(r'"(?:message|msg|event|error)":')
_OF_CLIENT = re.compile(r"(?i:kafka|sarama|\bkgo\b)")
_LONGEST_RECORD = 60

# HTML's tags, Markdown's quotes and what it puts around a line. Erlang starts lines with `** `, Java masks with `****`.
_TAG = re.compile(r"</?(?:span|font|b|i|em|strong|code|pre|br|p|a|tt)(?: [^<>]*)?/?>")
_QUOTE = re.compile(r"(?: {0,3}> ?)+")
_BOLD = re.compile(r"(?<![*\w/])\*\*(?=[^\s*])([^*]+)(?<=[^\s*/])\*\*(?![*\w/])|^\*\*(?=[^\s*])|(?<=[^\s*/])\*\*$")
_AROUND = re.compile(r"(_|\*|`{1,3})(?=[^\s_*`])(.*[^\s_*`])\1|`{1,3}(?=[^\s`])([^`]+)|([^`]+)(?<=[^\s`])`{1,3}")
_MARKS = frozenset("_*`")
_EMPHASIS = re.compile(r"(?<![\w*])([_*]{1,2})(?=[^\s_*])([^_*]+)(?<=[^\s_*])\1(?![\w*])")

_TIMES = re.compile(
    r"(?:^|[\[\"{ |\t])(?P<at>"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:\d\d)?\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
    r"|[A-Z][a-z]{2} [ \d]?\d(?:, \d{4})? \d?\d:\d\d:\d\d(?: [AP]M)?"
    r"|\d\d:\d\d:\d\d[.,]\d{3}"
    r")|(?:^|[ |\"])%\d\|(?P<epoch>\d{10}\.\d{3})\|"
    r"|^(?P<seconds>\d{10}\.\d{3}) RDKAFKA-"
)
_HEAD = 80
_SAME_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def pieces(stream: TextIO) -> Iterator[str]:
    """The lines of a stream, long ones in pieces; the last one has a line end, too."""
    piece = ""
    for piece in iter(lambda: stream.readline(LONGEST), ""):
        yield piece if piece.endswith("\n") or len(piece) == LONGEST else f"{piece}\n"


def unwrapped(line: str) -> list[str]:
    """The client's lines; usually the line itself."""
    if "\\" in line and ('{"' in line or '":' in line):
        for _ in range(_LEVELS):
            if "\\" not in line:
                break
            line = _ESCAPE.sub(_meaning, line)
        line = _STACK.sub(r"\n\g<0>", line)
    elif "\\n" in line and _STACK_IN_LINE.search(line):
        line = _ESCAPE.sub(_meaning, line)
    if "&" in line and ";" in line:
        line = _ENTITY.sub(lambda entity: _ENTITIES[entity[1]], line)
    if "#012" in line:
        line = line.replace("#012", "\n").replace("#011", "\t")
    if "\x1b" in line:
        line = _COLOURS.sub("", line)
    if (collected := _COLLECTED.match(line)) is not None:
        line = line[collected.end() :]
    return [_unmarked(part) for part in line.splitlines()] or [line]


def whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines; those of one text that YAML folded are one."""
    folded = ""
    for line in lines:
        whole = unfolded(folded, line) if folded else line
        if whole is None:
            yield f"{folded}\\\n"
            whole = line
        folded = ""
        if whole.endswith(_FOLDS) and len(whole) < LONGEST:
            folded = whole.rstrip("\r\n").removesuffix("\\")
        else:
            yield whole
    if folded:
        yield f"{folded}\\\n"


def whole_records(lines: Iterable[str]) -> Iterator[str]:
    """The lines; a record that a Kafka client's logger printed over several lines is one, as JSON without blanks."""
    waiting: list[str] = []
    depth = 0
    for line in lines:
        if not waiting and not _OPENS.match(line):
            yield line
            continue
        waiting.append(line)
        text = _STRING.sub("", line)
        depth += text.count("{") + text.count("[") - text.count("}") - text.count("]")
        if depth > 0 and len(waiting) < _LONGEST_RECORD:
            continue
        yield from _record(waiting) if depth == 0 else waiting
        waiting, depth = [], 0
    yield from waiting


def _record(lines: list[str]) -> list[str]:
    """One line, if these lines are a record of a Kafka client's log."""
    parts = [_FIELD.sub(_field, line.strip()) for line in lines]
    whole = "".join(f"{part}," if part[-1:] == '"' else part for part in parts)
    is_log = len(whole) < LONGEST and all(each.search(whole) for each in (_LEVEL, _MESSAGE, _OF_CLIENT))
    return [f"{whole}\n"] if is_log else lines


def _field(found: re.Match[str]) -> str:
    before, name, value = found.groups()
    if value[:1] == "'" and value[-1:] == "'":
        value = value[1:-1].replace('"', '\\"')
        value = f'"{value}"'
    return f'{before}"{name}":{value}{"," if found[0].rstrip().endswith(",") else ""}'


def unfolded(first: str, second: str) -> str | None:
    """Two lines of a text that YAML folded as one; None if they are not. `first` is without its backslash."""
    mark = _FOLDED.match(second)
    return first + second[mark.end() :] if mark else None


def without_emphasis(line: str) -> str:
    """The line without Markdown's marks in its middle. Some clients write such characters, so this is a second try."""
    return _EMPHASIS.sub(r"\2", line.replace("`", ""))


def _unmarked(line: str) -> str:
    """The line without Markdown's marks around it, and without bold text."""
    if ">" in line[:4]:
        quote = _QUOTE.match(line)
        line = line[quote.end() :] if quote else line
    if "</" in line:
        line = _TAG.sub("", line)
    if "**" in line:
        line = _BOLD.sub(lambda bold: bold[1] or "", line)
    if line[:1] in _MARKS or line[-1:] in _MARKS:
        around = _AROUND.fullmatch(line.rstrip())
        return around[around.lastindex or 0] if around else line
    return line


def timestamp(line: str) -> str | None:
    """The time at the start of a line, None if it has none."""
    match = _TIMES.search(line, 0, _HEAD)
    return match["at"] or match["epoch"] or match["seconds"] if match else None


def begins_with_level(line: str) -> bool:
    """Whether a line begins with a level, behind the name of a thread or nothing."""
    return _LEVEL_FIRST.match(line) is not None


@lru_cache(maxsize=4)
def wording_of(text: str) -> str:
    """The text with 0 for every digit and `?` for every non-ASCII character, at the same positions; bytes are faster.

    Cached because the same line is used a few times in a row.
    """
    return text.encode("ascii", "replace").translate(_SAME_DIGITS).decode("ascii")


def cached_by_wording(search: Callable[[str], Result]) -> Callable[[str], Result]:
    """A search in the wording of a line. Long lines are not cached, because their wording rarely repeats."""
    cached = lru_cache(maxsize=8192)(search)

    def in_line(line: str) -> Result:
        return search(wording_of(line)) if len(line) > LONG else cached(wording_of(line))

    return in_line


def _meaning(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else _MEANINGS.get(letter, letter)
