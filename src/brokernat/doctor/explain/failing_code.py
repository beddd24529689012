"""Whose code failed: the first frame of a stack that is not the language's own; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from brokernat.doctor.explain.known_lines import table
from brokernat.doctor.explain.surroundings import CAUSED, LONGEST_ERROR
from brokernat.text import printable

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
