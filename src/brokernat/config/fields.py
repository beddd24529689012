"""The field types of the file: how each is parsed, and how the JSON Schema describes it.

Each is an annotation for the model. Parsed values pass unchanged, so models can be built in Python, too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, PlainValidator, ValidationInfo, WithJsonSchema

from brokernat.address import Endpoint, Rule, listen_endpoint, parse_rule
from brokernat.config.problems import Fault, faults
from brokernat.config.secrets import References, Secret
from brokernat.errors import ConfigError, Finding
from brokernat.paths import expanded_home
from brokernat.text import seconds, size_in_bytes

Profile = Literal["auto", "lan", "wan"]
"""The settings for a short or a long round-trip time; `auto` measures it."""

_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}", re.ASCII)  # org.apache.kafka.common.internals.Topic
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_INTERVAL = re.compile(r"[1-9][0-9]* (milliseconds?|seconds?|minutes?|hours?)", re.ASCII)
_EPOCH = re.compile(r"[1-9][0-9]* (seconds?|minutes?|hours?)", re.ASCII)
_AGE = re.compile(r"[1-9][0-9]* (seconds?|minutes?|hours?|days?|weeks?)", re.ASCII)
_SHARE = re.compile(r"(100|[1-9]?[0-9](\.[0-9]+)?)% of [1-9][0-9]*", re.ASCII)
_DELIMITER = re.compile(r'[^"\r\n]')
_SMALLEST = 1 << 20
_SHORTEST_EPOCH = 5
"""The minimum of `spark.sql.streaming.realTimeMode.minBatchDuration`, in seconds."""
_RULE_IN_QUOTES = "write `- advertised = reachable`, in quotes where it starts with `*` or `[`"
_RULE_PER_ENTRY = "one rule per list entry: `- advertised = reachable`"


def check_topic(name: str) -> None:
    """Check the name of a topic.

    Raises:
        ConfigError: Kafka has no topics with such a name.
    """
    if not _TOPIC.fullmatch(name):
        hint = "topic names consist of letters, digits, `.`, `_`, `-`, at most 249 of them"
        raise ConfigError(Finding("bad-topic", f"`{name}` is not a topic name", hint))


def _topic(value: str) -> str:
    try:
        check_topic(value)
    except ConfigError as error:
        raise faults(Fault(problem) for problem in error.problems) from None
    return value


def _endpoints(value: object) -> tuple[Endpoint, ...]:
    if isinstance(value, str):
        entries: list[object] = [part for part in value.split(",") if part.strip()]
        places: list[tuple[int, ...]] = [()] * len(entries)
    elif isinstance(value, list | tuple):
        entries = list(value)
        places = [(index,) for index in range(len(entries))]
    else:
        raise faults([Fault(Finding("wrong-type", "endpoints are text, `host:port,host:port`, or a list of them"))])
    if not entries:
        raise faults([Fault(Finding("empty", "there is no endpoint", "write at least one `host:port`"))])
    found: list[Endpoint] = []
    problems: list[Fault] = []
    for entry, place in zip(entries, places, strict=True):
        try:
            found.append(_endpoint(entry))
        except ConfigError as error:
            problems.extend(Fault(problem, place) for problem in error.problems)
    if problems:
        raise faults(problems)
    return tuple(found)


def _endpoint(value: object) -> Endpoint:
    if isinstance(value, Endpoint):
        return value
    if not isinstance(value, str):
        raise ConfigError(Finding("wrong-type", "an endpoint is text, `host:port`"))
    return Endpoint.parse(value)


def _listen_endpoint(value: object) -> Endpoint:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    try:
        return listen_endpoint(value) if isinstance(value, str) else _endpoint(value)
    except ConfigError as error:
        raise faults(Fault(problem) for problem in error.problems) from None


def _rule(value: object) -> Rule:
    if isinstance(value, Rule):
        return value
    if not isinstance(value, str):
        raise faults([Fault(Finding("wrong-type", "a rule is text", _RULE_IN_QUOTES))])
    try:
        return parse_rule(value)
    except ConfigError as error:
        problem = error.problems[0]
        hint = _RULE_PER_ENTRY if problem.code == "extra-equals" else problem.hint
        raise faults([Fault(Finding(problem.code, problem.message, hint))]) from None


def _located(value: str, info: ValidationInfo) -> str:
    """Resolves a path without a scheme against the folder of the file."""
    folder: Path | None = (info.context or {}).get("folder")
    return value if folder is None or "://" in value else str(folder / expanded_home(value))


def _size(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    hint = "write for example `512M` or `2G`"
    try:
        size = size_in_bytes(str(value))
    except ValueError:
        raise faults([Fault(Finding("bad-size", f"`{value}` is not a size", hint))]) from None
    if size < _SMALLEST:
        raise faults([Fault(Finding("bad-size", f"`{value}` is less than 1M", hint))])
    return size


def _secret_text(value: object, info: ValidationInfo) -> str | Secret:
    """Text; with `${env:NAME}` or `${file:PATH}` in it, a Secret."""
    if isinstance(value, Secret):
        return value
    value = _option(value)
    if not isinstance(value, str) or not value:
        raise faults([Fault(Finding("wrong-type", "it must be non-empty text", "write `'TEXT'` or `${env:NAME}`"))])
    references: References = (info.context or {}).get("references") or References()
    try:
        return references.expand(value)
    except ConfigError as error:
        raise faults(Fault(problem) for problem in error.problems) from None


def _registry_url(value: str) -> str:
    parts = urlsplit(value)
    hint = "for example `http://registry.hq:8081`"
    try:
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        valid = False
    # The message does not quote it, because it may contain a password.
    if not valid or parts.query or parts.fragment:
        raise faults([Fault(Finding("bad-url", "it is not the URL of a schema registry", hint))])
    if parts.username is not None:
        message = "the URL contains a login, which Spark would show"
        hint = "write it as `client: {basic.auth.user.info: ${env:NAME}}`"
        raise faults([Fault(Finding("plain-secret", message, hint))])
    return value.rstrip("/")


def _shaped(pattern: re.Pattern[str], kind: str, what: str, hint: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise faults([Fault(Finding(kind, f"`{value}` is not {what}", hint))])
        return value

    return AfterValidator(check)


def _not_too_short(value: str) -> str:
    if seconds(value) < _SHORTEST_EPOCH:
        message = f"`{value}` is shorter than {_SHORTEST_EPOCH} seconds, Spark's minimum"
        raise faults([Fault(Finding("bad-epoch", message, "the pauses between epochs would dominate"))])
    return value


def _nothing_is_empty(value: object) -> object:
    """Treats a key whose entries are all commented out as an empty mapping."""
    return {} if value is None else value


def _option(value: object) -> object:
    """Converts booleans and numbers to text, because Spark's reader options are text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


_ENDPOINT_SCHEMA = {"type": "string", "examples": ["172.10.1.40:9093", "[fd00::1]:9092"]}

Endpoints = Annotated[
    tuple[Endpoint, ...],
    PlainValidator(_endpoints),
    WithJsonSchema({"anyOf": [_ENDPOINT_SCHEMA, {"type": "array", "items": _ENDPOINT_SCHEMA, "minItems": 1}]}),
]
ListenEndpoint = Annotated[
    Endpoint,
    PlainValidator(_listen_endpoint),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["127.0.0.1:8088", 8088]}),
]
RuleField = Annotated[
    Any,
    PlainValidator(_rule),
    WithJsonSchema({"type": "string", "pattern": "=", "examples": ["192.168.1.23:9092 = 172.10.1.40:9093"]}),
]
MaybeEmpty = BeforeValidator(_nothing_is_empty)
DataPath = Annotated[str, AfterValidator(_located)]
Delimiter = Annotated[
    str,
    _shaped(_DELIMITER, "bad-delimiter", "a delimiter", 'write one character, for example `;`, or `"\\t"` for a tab'),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 1, "examples": [";"]}),
]
RegistryUrl = Annotated[
    str,
    AfterValidator(_registry_url),
    WithJsonSchema({"type": "string", "pattern": "^https?://", "examples": ["http://registry.hq:8081"]}),
]
Topic = Annotated[
    str,
    AfterValidator(_topic),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,249}$"}),
]
FunctionName = Annotated[
    str,
    _shaped(_FUNCTION, "bad-function", "a function", "write `module:function`, for example `my_tags:tag`"),
    WithJsonSchema({"type": "string", "pattern": "^[^:]+:[^:]+$", "examples": ["my_tags:tag"]}),
]
Interval = Annotated[
    str,
    _shaped(_INTERVAL, "bad-interval", "an interval", "write a number and a unit, for example `10 seconds`"),
    WithJsonSchema({"type": "string", "examples": ["10 seconds"]}),
]
Epoch = Annotated[
    str,
    _shaped(_EPOCH, "bad-epoch", "an epoch", "write a number and a unit, for example `1 minute`"),
    AfterValidator(_not_too_short),
    WithJsonSchema({"type": "string", "examples": ["1 minute"]}),
]
Age = Annotated[
    str,
    _shaped(_AGE, "bad-age", "an age", "write a number and a unit, for example `1 day`"),
    WithJsonSchema({"type": "string", "examples": ["1 day"]}),
]
Share = Annotated[
    str,
    _shaped(_SHARE, "bad-share", "a share", "write a percentage and a number of records, for example `5% of 10000`"),
    WithJsonSchema({"type": "string", "examples": ["5% of 10000"]}),
]
Size = Annotated[
    int,
    BeforeValidator(_size),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["512M", "2G"]}),
]
SecretText = Annotated[
    str | Secret,
    PlainValidator(_secret_text),
    WithJsonSchema({"type": ["string", "number", "boolean"], "examples": ["${env:NAME}", "${file:PATH}"]}),
]
EVERY_TIME = ("every_batch", "every_epoch")
Refresh = Annotated[
    str,
    _shaped(
        re.compile(rf"{'|'.join(EVERY_TIME)}|never|{_AGE.pattern}", re.ASCII),
        "bad-refresh",
        "a time to refresh",
        "write `every_batch` (`every_epoch` with `mode: realtime`), `never` or an interval, for example `5 minutes`",
    ),
    WithJsonSchema({"type": "string", "examples": [*EVERY_TIME, "never", "5 minutes"]}),
]
OptionText = Annotated[str, BeforeValidator(_option), WithJsonSchema({"type": ["string", "number", "boolean"]})]
