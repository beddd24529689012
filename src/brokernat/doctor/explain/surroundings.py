"""What the lines around a line show: its stack and the exceptions in it, and which program wrote it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from brokernat.doctor.explain.known_errors import names_kafkas_error
from brokernat.doctor.explain.known_lines import table
from brokernat.doctor.explain.matching import LineMatch, is_calm, match_line
from brokernat.text import printable

_CONTINUES = re.compile(
    # People replace frames by three points.
    r"\s|at |Caused by|Suppressed|\.{3} \d|[\[(<]?(?:\.{3}|…)[\])>]?\s*$|"
    r"File \"|Traceback|During handling|The above exc|[\w.$]+: |reason:|"
    # An exception without a text.
    r"(?:[a-z]\w{0,40}\.){2,12}[A-Z][\w$]{0,80}(?:Exception|Error|Throwable)\s*$|"
    # Docker compose writes the container's name before every line.
    r"[\w.-]+ {1,40}\| ?(?:\s*at [\w.$/]+\(|Caused by|\s*\.{3} \d|[\w.$]+: )"
)
_EXCEPTION = (
    r"(?:(?:[a-zA-Z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Failure|Throwable)\b|[A-Z]\w*(?:Exception|Error)(?=: )).*"
)
# Docker compose writes the container's name before every line.
_PREFIX = r"\s*(?:[\w.-]*\s*\| )?\s*"
_OF_STACK = re.compile(rf"{_PREFIX}(?:(?:Caused by: )?(?P<exception>{_EXCEPTION})|at |\.{{3}} \d)")
_WITHIN = re.compile(rf".*(?:nested exception is|[Cc]aused by:?) ({_EXCEPTION})")
# An exception of Java directly behind the text of a message; of several the innermost.
_BEHIND = re.compile(
    r"(?:[^:]{0,80}:)? ?(?:(?:[a-z][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,100}: ){0,5}"
    r"((?:[a-z][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,100}(?:Exception|Error)(?:: .*|$))"
)
# The errors of other languages than Java.
_ERROR = re.compile(
    r"(?:\*\* \()?\b(?:[A-Za-z_]\w*(?:::|[.\\]))*[A-Z]\w*(?:Error|Exception)\b[): ].*|"
    r"panic: .*|SIG(?:SEGV|ABRT|BUS)\b.*|called `(?:Option|Result)::\w+\(\)`.*|"
    r"\{{1,2}:?(?:badmatch|function_clause|case_clause|badarg|noproc|undef)\b.*"
)
_LONGEST = 300
LONGEST_ERROR: Final = 2000
# A line that begins so is itself the cause of the line above.
CAUSED: Final = "Caused by: "
# ZooKeeper in the layout of Kafka's own loggers.
_ZOOKEEPER = re.compile(r"\(org\.apache\.zookeeper\.[\w.$]+\)")
# A URL does not show which program wrote the line, unless it is a server of Kafka's family.
_WEB_ADDRESS = re.compile(r"https?://(?!\S*(?:registry|ksql|connect))\S+")
# Nor does the name of a machine in a cloud.
_HOST_IN_CLOUD = re.compile(
    r"\b[\w.-]+\.(?:amazonaws\.com(?:\.cn)?|azure\.com|windows\.net|googleusercontent\.com|internal)\b"
)


def _any_of(program: str) -> re.Pattern[str]:
    """A pattern for what shows a program of `programs.toml`."""
    patterns = table("programs.toml")[program]
    any_case = f"(?i:{'|'.join(patterns['any_case'])})"
    return re.compile("|".join((any_case, *patterns.get("as_written", ()))))


_KAFKA, _STREAMING, _OF_TABLES, _OTHERS = map(_any_of, ("kafka", "streaming", "of_tables", "others"))
_OTHER_SERVER = re.compile(
    rf"(?:[\w-]{{1,40}}[-_.])?(?:{_any_of('other_servers').pattern})(?:[-_.\d][\w.-]{{0,200}})?", re.IGNORECASE
)


def continues_stack(line: str) -> bool:
    """Whether the line belongs to the same message or stack as the line above."""
    return _CONTINUES.match(line) is not None


def is_of_stack(line: str) -> bool:
    """Whether the line is a frame, or begins with an exception."""
    return _OF_STACK.match(line) is not None


def exception_of(line: str) -> str:
    """The exception that a line of a stack begins with; empty if it is none."""
    match = _OF_STACK.match(line)
    return shortened(match["exception"] or "") if match else ""


def exception_within(line: str, end: int) -> str:
    """The exception that a message contains behind its own text, which ends at `end`; empty if there is none."""
    match = _WITHIN.match(line)
    if match and match.start(1) > len(CAUSED):
        return match[1][:_LONGEST]
    match = _BEHIND.match(line[end : end + LONGEST_ERROR])
    return shortened(match[1]) if match else ""


def error_above(lines: Iterable[str], line: str) -> str:
    """The error whose stack a line belongs to: the next one above; empty if there is none."""
    found = None
    for text in lines:
        if text.strip() == line:
            break
        found = _ERROR.search(text, 0, LONGEST_ERROR) or found
    return shortened(found[0]).strip() if found else ""


def shortened(text: str) -> str:
    """The start of an exception, as a report shows it."""
    return printable(text[:_LONGEST])


def names_kafka(line: str) -> bool:
    """Whether the line has a text that only Kafka's programs print."""
    return _KAFKA.search(line) is not None


def names_streaming(line: str) -> bool:
    """Whether a line names a program that mostly reads or writes Kafka."""
    return _STREAMING.search(line) is not None and not _OF_TABLES.search(line)


def is_kafkas(match: LineMatch, text: str, below: Iterable[str], above: Iterable[str]) -> bool | None:
    """Whether a Kafka client wrote a borrowed text; None if neither it nor the lines around it show it.

    The lines `below` are of the same stack; the lines `above` begin with the nearest one.
    """
    if _ZOOKEEPER.search(text) or (names_kafkas_error(text) and not is_calm(text)):
        return True
    known = match.known
    # Kafka lines above do not make a single line that any program may print a Kafka line.
    alone = known.by_error and not continues_stack(text)
    # A kind may itself be about another program (ZooKeeper).
    own = _others(known.title if known.by_error else f"{known.example} {known.seen}")
    for line in (text, *below, *(() if alone else above)):
        around = match_line(line, alone=True)
        if names_kafka(_WEB_ADDRESS.sub("http:", line)) or (around and not around.known.borrowed):
            return True
        if _others(line) - own:
            return False
    if _OTHER_SERVER.fullmatch(match.peer.words.get("host", "")):
        return False
    return False if _others(text) - (own if known.everyones else set()) else None


def _others(text: str) -> set[str]:
    """The other programs that a text names."""
    return {each.lower() for each in _OTHERS.findall(_HOST_IN_CLOUD.sub("", text))}
