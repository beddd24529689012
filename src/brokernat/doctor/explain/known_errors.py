r"""Errors that are recognised by name or text in any line: the second tier, complete by construction.

A kind in `lines/` is a whole line that was seen in a log. Not all lines are known, but the errors that they report are
a closed set: those of Kafka's protocol, of librdkafka, the exceptions of the Java clients, and errors of sockets and
TLS. `errors/*.toml` explains each of them, and `errors/spellings.toml` has the spelling of each client. A line of no
kind is searched for all of them at once.

`anybodys` are the texts that other programs print, too. They are `borrowed`, as whole errors may be.

A log shipper may cut a spelling at the end of a line; it still matches if it is long enough.

A spelling starts at a word, so one pass over the words of a line is enough: few spellings start with the next
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from brokernat.doctor.explain.known_lines import KnownLine, known_line, tables
from brokernat.doctor.explain.log_text import cached_by_wording, wording_of

_SPELLINGS: Final = "spellings.toml"
_ANYBODYS: Final = "anybodys.toml"
# The length of the prefix that finds spellings; no spelling is shorter.
_FIRST, _MORE = 5, 18
# Of a longer name only what follows librdkafka's `ERR_` is a spelling: not `LEADER_NOT_AVAILABLE` of `PREFERRED_…`.
_WORD = re.compile(rf"(?<![A-Za-z0-9])(?:(?<![A-Z0-9]_)|(?<=ERR_))(?=([A-Za-z_\[].{{0,{_FIRST - 1}}}))")
# A name's spelling may end with `: `; without it the name is still complete.
_AFTER_NAME = 2
# The shortest match of an error's own text: alone (versions differ in the rest), and after its name.
_WORDS, _WORDS_AFTER_NAME = 9, 4
_TROUBLE = re.compile(r"\b(?:WARN(?:ING)?|ERROR|FATAL|SEVERE|CRITICAL|warn|error|fatal)\b")
_HEAD = 120
# Loggers that write JSON may have the level behind the message.
_TROUBLE_JSON = re.compile(r'"(?:log\.)?(?:level|severity)(?:_?name)?": ?"(?i:warn|error|fatal|severe|critical)')
# Spring names a listener's thread after its class and a number.
_THREAD = re.compile(r"[\w.]+#\d")
# What follows an error of a service of Amazon's; some are called like one of Kafka's.
_OF_AWS = ") when calling the "
# Confluent.Kafka may print the code before a reason, which says more.
_CODE_OF_DOTNET, _REASON_OF_DOTNET = "Local_", "Reason ["
_FRAME = re.compile(r"\s*at [\w.$/]+\(")
# The characters that log layouts put after a logger's name; a stack frame has a method there.
_AFTER_LOGGER = (")", ":", "]", " ", '"')
# log4j's layout of brokers writes the logger behind the message.
_END_OF_MESSAGE = re.compile(r"(?:[\w.-]+\s*\|)?\s*\(")
# What a connector reports about its other system (database, object store), not about Kafka.
_OTHER_SYSTEM = re.compile(
    r"(?:connect\.errors\.(?:Connect|Retriable)Exception|until manually restarted\. Error): "
    r"(?:java\.[\w.$]+|(?!org\.apache\.kafka|io\.confluent\.kafka|java)[a-z]\w*(?:\.[\w$]+){2}.*)"
)
# A class without a package counts as Kafka's only if its name has one of these words.
_KAFKAS_WORDS = re.compile(
    "Topic|Partition|Broker|Leader|Replica|Coordinator|Offset|Producer|Txn|Transactional|Generation|Member|Sasl|Fetch|"
    "Compression|Rebalance|RecordList|RecordTooLarge|RecordBatch|GroupProtocol|GroupAuth|ClusterAuth|Kafka|Pid|"
    "Sequence|Epoch|Acks|FencedInstance|Voter|InconsistentCluster"
)
_LONGEST_PACKAGE = 200
_PACKAGE_BEFORE = re.compile(r"(?:[A-Za-z_]\w*[.$]){2,}\Z")
_KAFKAS_PACKAGE = re.compile(r"kafka|confluent|ksql|debezium|brokernat|streams\.errors", re.IGNORECASE)


def is_frame(line: str) -> bool:
    """Whether the line is a frame of a Java stack: it names code, and no error."""
    return _FRAME.match(line) is not None


def error_in(line: str) -> tuple[KnownLine, re.Match[str]] | None:
    """The error that a line names; of several the most informative, then the first one."""
    if is_frame(line):
        return None
    found = min(_errors_in(line), key=lambda error: error[2].tells, default=None)
    if found is None:
        return None
    at, text, known = found
    match = re.compile(re.escape(text)).match(line, at)
    return (known, match) if match else None


def names_kafkas_error(line: str) -> bool:
    """Whether a line names an error that only programs of Kafka print."""
    return any(not known.borrowed for _, _, known in _errors_in(line))


def _errors_in(line: str) -> Iterator[tuple[int, str, KnownLine]]:
    seen = -1
    for at, text, known in _candidates(line):
        # Of several at one place the longest counts, which comes first.
        if at != seen and line.startswith(text, at) and _may_stand(text, line, at):
            seen = at
            if not (known.borrowed and _is_other_systems(line, at)):
                yield at, text, known


@cached_by_wording
def _candidates(wording: str) -> tuple[tuple[int, str, KnownLine], ...]:
    """The spellings in a line with their positions, ignoring digits; at one position the longer ones first."""
    found: list[tuple[int, str, KnownLine]] = []
    spellings = _by_first()
    if spellings.keys().isdisjoint(_WORD.findall(wording)):
        return ()
    for word in _WORD.finditer(wording):
        at = word.start()
        longer = spellings.get(word[1])
        if longer is None:
            continue
        several, few = longer.get(wording[at : at + _MORE], ()), longer.get("", ())
        whole = [
            (at, text, known)
            for text, spelled, known in (*several, *few)
            if wording.startswith(spelled, at) and not _goes_on(wording, at + len(text))
        ]
        found += whole or (_cut(wording, at, several) if several else ())
    return tuple(found)


def _cut(wording: str, at: int, several: Sequence[tuple[str, str, KnownLine]]) -> list[tuple[int, str, KnownLine]]:
    """The error whose cut spelling ends the line, if only one matches and no more than half of it is missing; a whole
    name without its text is not cut.
    """
    rest = wording[at:]
    longer = [
        (text, known)
        for text, spelled, known in several
        if len(text) > len(rest) + _AFTER_NAME and spelled.startswith(rest)
    ]
    if len({known.key for _, known in longer}) != 1 or any(text.startswith(":", len(rest)) for text, _ in longer):
        return []
    if 2 * len(rest) < min(len(text) for text, _ in longer):
        return []
    return [(at, longer[0][0][: len(rest)], longer[0][1])]


def _may_stand(text: str, line: str, at: int) -> bool:
    """Whether the text counts at this position: a package only as the logger of a warning or an error, not in a stack
    frame or in the name of a thread; a logger not in the last line of a message, whose level is above; a code not
    beside its reason.
    """
    if line.startswith(_OF_AWS, at + len(text)):
        return False
    if text.startswith(_CODE_OF_DOTNET) and _REASON_OF_DOTNET in line:
        return False
    if _is_anothers_class(text, line, at):
        return False
    if text.endswith(_AFTER_LOGGER[0]) and _END_OF_MESSAGE.fullmatch(line, 0, at):
        return False
    if not text.endswith("."):
        return True
    reports_trouble = _TROUBLE.search(line, 0, _HEAD) or ('{"' in line and _TROUBLE_JSON.search(line))
    return bool(reports_trouble) and not _THREAD.match(line, at)


def _is_anothers_class(text: str, line: str, at: int) -> bool:
    """Whether the text is the bare name of a class, and the line has it in a package of another program."""
    if not text.isidentifier() or line[at - 1 : at] not in (".", "$"):
        return False
    package = _PACKAGE_BEFORE.search(line, max(0, at - _LONGEST_PACKAGE), at)
    return package is not None and not _KAFKAS_PACKAGE.search(package[0])


def _is_other_systems(line: str, at: int) -> bool:
    """Whether a connector reports this error about its other system."""
    match = _OTHER_SYSTEM.search(line)
    return match is not None and match.start() < at < match.end()


def _goes_on(line: str, end: int) -> bool:
    """Whether a name goes on where a spelling ends."""
    return line[end - 1].isalnum() and line[end : end + 1].isalnum()


@cache
def known_errors() -> tuple[KnownLine, ...]:
    """All known errors; their `holds` are all spellings."""
    return tuple(known for file in _clients() for known in _errors_of(file))


@cache
def _by_first() -> Mapping[str, Mapping[str, list[tuple[str, str, KnownLine]]]]:
    """The spellings and their wordings by the first characters, then by further ones; shorter ones are separate."""
    found: dict[str, dict[str, list[tuple[str, str, KnownLine]]]] = {}
    # Longer spellings come first: `Local: Timed out in queue` is not `Local: Timed out`.
    all_spellings = [(text, known) for known in known_errors() for text in known.holds]
    anybodys = {text for file in _clients() for fields in file["error"] for text in fields.get("anybodys", ())}
    for text, error in sorted(all_spellings, key=lambda spelling: -len(spelling[0])):
        known = replace(error, borrowed=True) if text in anybodys else error
        spelled = wording_of(text)
        more = spelled[:_MORE] if len(text) >= _MORE else ""
        found.setdefault(spelled[:_FIRST], {}).setdefault(more, []).append((text, spelled, known))
    return found


def _errors_of(file: Mapping[str, Any]) -> Iterator[KnownLine]:
    for fields in file["error"]:
        own = dict(fields)
        names, loggers = (own.pop(name, []) for name in ("errors", "loggers"))
        texts = [*own.pop("texts", []), *own.pop("anybodys", [])]
        holds = [
            *texts,
            *(text for name in names for text in _spelled(name)),
            *(f"{name}{end}" for name in loggers for end in _AFTER_LOGGER),
        ]
        yield known_line(
            file["client"],
            {
                **own,
                "holds": holds,
                "pattern": "",
                "example": holds[0],
                "seen": file["read"],
                "wordings": ", ".join(f"`{text}`" for text in (*names, *texts, *loggers)),
                "by_error": True,
            },
        )


def _spelled(name: str) -> Iterator[str]:
    """All spellings of a protocol error, or of an error of librdkafka's own."""
    fields, anybodys = tables("errors")[_SPELLINGS][name], tables("errors")[_ANYBODYS]
    camel = _camel(name)
    if "local" in fields:
        # hw-kafka-client and Confluent.Kafka print the name behind a prefix.
        yield from (f"Local: {fields['local']}", f"RdKafkaRespErr{camel}", f"Local_{camel}")
        yield from (f"RD_KAFKA_RESP_ERR_{name}", f"ERR_{name}", f"code={name}", f"{name})", f"name {name}")
        return
    says, code = _beginning(fields["says"]), fields["code"]
    java, python = fields.get("java", f"{camel}Exception"), fields.get("python", f"{camel}Error")
    title = " ".join(word if word in ("ID", "SASL") else word.capitalize() for word in name.split("_"))
    go = fields.get("kafka_go", title)
    names = (name, *fields.get("names", ()))
    yield from (f"common.errors.{java}", f"kafka.errors.{python}", f"[Error {code}] {python}")
    yield f"[Error {code}] {python.removesuffix('Error')}"
    yield from (f"aiokafka.errors.{python}", f"kafka server: {_beginning(fields.get('sarama', says))}")
    # sarama before 1.0 has no prefix, and programs cut it off.
    if len(fields.get("sarama", "").split()) >= _WORDS:
        yield _beginning(fields["sarama"])
    yield f"[{code}] {go}: " if name in anybodys["names"] else f"[{code}] {go}"
    # kafka-go's own title and description, without the code.
    yield f"{go}: the "
    yield from (f"Err-{code}?", f"Unknown error with code {code}")
    # sarama of a release that does not know the code.
    yield f"Unknown error, how did this happen? Error code = {code}"
    if "rdkafka" in fields:
        yield f"Broker: {_beginning(fields['rdkafka'])}"
    for each in names:
        yield f"{each}: {_beginning(says, _WORDS_AFTER_NAME)}"
        if each not in anybodys["names"]:
            yield from (each, f"ERR_{each}", f"code={each}")
        # confluent-kafka-python prints the number, too.
        yield f"code={each},val="
    yield f"Kafka::{camel}"
    # Erlang and Elixir print it in lower case, Rust, pykafka and kafka-node alone, hw-kafka-client behind a prefix.
    for each in names:
        yield f"RdKafkaRespErr{_camel(each)}"
        if _KAFKAS_WORDS.search(_camel(each)) and each not in anybodys["names"]:
            yield from (_camel(each), each.lower())
    yield from filter(_KAFKAS_WORDS.search, (java, python))
    for text in (says, _beginning(fields.get("kafkajs", says))):
        yield f"KafkaJSProtocolError: {text}"
        # kafkajs logs JSON, with the response that has the error.
        yield f'error":"{text}' if text in anybodys["texts"] else text


def protocol_errors() -> Iterator[tuple[str, list[str], list[str], int]]:
    """Key, names, sentences and number of each error of the protocol; of librdkafka's own key and number alone."""
    spellings = tables("errors")[_SPELLINGS]
    for error in (each for file in _clients() for each in file["error"]):
        for name in error.get("errors", ()):
            fields = spellings[name]
            if "local" in fields:
                yield error["key"], [], [], fields["code"]
                continue
            names = [name, *fields.get("names", ()), *(fields[each] for each in ("java", "python") if each in fields)]
            texts = ("says", "kafkajs", "rdkafka", "sarama", "kafka_go")
            sentences = [_beginning(fields[each]) for each in texts if each in fields]
            title = name.replace("_", " ")
            yield error["key"], [each.partition(":")[0] for each in names], [title, *sentences], fields["code"]


def whole_texts() -> Iterator[tuple[str, str, bool]]:
    """Key and whole text of each error, and whether that is a name; without what other programs print, too."""
    spellings, anybodys = tables("errors")[_SPELLINGS], tables("errors")[_ANYBODYS]
    for error in (each for file in _clients() for each in file["error"]):
        for name in error.get("errors", ()):
            fields = spellings[name]
            if "local" not in fields and name not in anybodys["names"]:
                yield error["key"], fields.get("java", f"{_camel(name)}Exception").partition(":")[0], True
            for text in (fields[each] for each in ("local", "says", "kafkajs", "rdkafka", "sarama") if each in fields):
                if text not in anybodys["texts"]:
                    yield error["key"], text, False


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _beginning(text: str, words: int = _WORDS) -> str:
    return " ".join(text.split()[:words])


def _clients() -> list[dict[str, Any]]:
    return [table for name, table in tables("errors").items() if name not in (_SPELLINGS, _ANYBODYS)]
