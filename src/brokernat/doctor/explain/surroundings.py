"""What the lines around a line show: its stack and the exceptions in it, whose code failed, and which program wrote it;
pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

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


_CODE = re.compile(
    r"\bat (?:app//|[\w.@-]{1,60}/{1,2})?(?P<class>(?:[\w$-]{1,80}\.){1,15}[\w$]{1,200})\.(?P<method>[\w$<>]{1,100})"
    r"\((?P<file>[^)\s]{0,100})"
)
# A place in a file, as Go, Node.js and Ruby print it, and the library that has it.
_FILE = re.compile(r"(?P<path>/[\w./@+-]{1,250}\.(?:go|[cm]?js|ts|rb)):(?P<line>\d{1,7})\b")
_OF_LANGUAGE = re.compile(
    # The packages of Go itself have no host in their path.
    r"(?:/go/(?:[\w.-]{1,40}/)?|/libexec/)src/(?![\w-]{1,40}\.)|/lib/ruby/\d|"
    r"/node_modules/(?:tslib|core-js|regenerator-runtime)/"
)
_PACKAGE = re.compile(
    r"/pkg/mod/(?P<go>[\w.!/-]{1,120}?)@|/vendor/(?P<vendor>[\w.-]+/[\w.-]+/[\w.-]+)/|"
    r"/src/(?P<src>github\.com/(?:IBM|Shopify|bsm|segmentio|twmb|confluentinc|linkedin|optiopay)/[\w.-]+|"
    r"gopkg\.in/[\w.-]+/[\w.-]+)/|"
    r"/node_modules/(?P<node>(?:@[\w.-]+/)?[\w.-]+)/|"
    r"/(?P<own>node-rdkafka|kafkajs|kafka-node)/(?:lib|src|dist)/|/gems/(?P<gem>[\w-]{1,60}?)-\d"
)
_OF_JAVA = re.compile(r"(?:java|javax|jdk|sun|com\.sun|scala|kotlin|jakarta|groovy|clojure)\.")
# Scala's and Java's names of a function within a method.
_FUNCTION = re.compile(r"(?:\$\$anonfun|\$anonfun|lambda)\$(?P<name>[A-Za-z]\w{0,80})\$")
_VALUE = re.compile(
    r"IndexOutOfBoundsException: (?:Index )?(?P<index>-?\d{1,9})\b|because (?P<null>.{1,160}?) is null|"
    r'NumberFormatException: For input string: (?P<number>"[^"]{0,80}")'
)


@dataclass(frozen=True, slots=True)
class FailingCode:
    """`sentences` name the code; empty if no frame shows it. `of_broker`: it is a broker's."""

    sentences: str = ""
    of_broker: bool = False


def failing_code(exception: str, below: Iterable[str]) -> FailingCode:
    """The first frame below an exception that is not the language's own, and the first of the program's own code."""
    first = own = None
    for line in takewhile(lambda each: not each.lstrip().startswith(CAUSED), below):
        file = _FILE.search(line, 0, LONGEST_ERROR) if first is None else None
        if file:
            if _OF_LANGUAGE.search(file["path"]):
                continue
            return FailingCode(printable(_file_sentence(file)))
        frame = _CODE.search(line, 0, LONGEST_ERROR)
        if frame is None or _OF_JAVA.match(frame["class"]):
            continue
        first = first or frame
        if _library_of(frame) is None:
            own = frame
            break
    value = _VALUE.search(exception, 0, LONGEST_ERROR)
    library = _library_of(first) if first else None
    sentences = [_value_sentence(value)] if value else []
    if first:
        sentences += _frame_sentences(first, library["name"] if library else "the program or plug-in itself")
    if library and own:
        sentences.append(f"The first frame of the program's own code is {_place_of(own)}.")
    return FailingCode(printable(" ".join(sentences)), library is not None and library.get("of_broker", False))


def _library_of(frame: re.Match[str]) -> Mapping[str, Any] | None:
    libraries = table("programs.toml")["libraries"]
    return next((each for each in libraries if frame["class"].startswith(tuple(each["packages"]))), None)


def _file_sentence(file: re.Match[str]) -> str:
    package = _PACKAGE.search(file["path"])
    of = f"the library `{package[package.lastindex or 0]}`" if package else "the program itself"
    return f"The first frame is {file['path'].rpartition('/')[2]}:{file['line']}, code of {of}."


def _frame_sentences(frame: re.Match[str], of: str) -> Iterator[str]:
    yield f"The exception comes from {_place_of(frame)}, code of {of}."
    if "erialize" in frame["method"]:
        sent = "sent" if frame["method"].startswith("serial") else "read"
        yield f"The record was not {sent}; its key or value may be null or of another form."


def _place_of(frame: re.Match[str]) -> str:
    name = frame["class"].rpartition(".")[2].partition("$$")[0].rstrip("$")
    within = _FUNCTION.search(frame["class"]) or _FUNCTION.search(frame["method"])
    called = f"`{name}.{within['name'] if within else frame['method']}`"
    return f"{called} ({frame['file']})" if ":" in frame["file"] else called


def _value_sentence(value: re.Match[str]) -> str:
    if value["index"]:
        return f"The list or array has no element with the index {value['index']}: it is shorter than the code expects."
    return f"{value['null']} is null there." if value["null"] else f"{value['number']} is not a number."
