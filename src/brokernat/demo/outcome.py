"""What came out: tags and dead letters, read back from the local Kafka past everything that wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from brokernat.demo.events import Event, EventTable, Quote, Say
from brokernat.demo.files import DEAD_LETTERS, TAGS
from brokernat.plurals import counted
from brokernat.testbed import LoopbackWorld, Record

_SAMPLE = 5
_MESSAGE_WIDTH = 60
_CAUSE = "__connect.errors.exception.class.name"
_MESSAGE = "__connect.errors.exception.message"


def outcome(world: LoopbackWorld) -> Iterator[Event]:
    """Some tags, and every cause of a dead letter."""
    tags, dead = world.local.read(TAGS), world.local.read(DEAD_LETTERS)
    yield Say(f"Topic `{TAGS}` of the local Kafka holds {counted(len(tags), 'record')}; some of them:")
    yield Quote(f"topic {TAGS}", tuple(_text(record.value) for record in tags[:_SAMPLE]))
    yield Say(f"Why {len(dead)} records went to `{DEAD_LETTERS}`, each with its bytes and where it came from:")
    yield _causes(dead)
    if tags:
        yield Say(f"Each record names its source: brokernat-src: {_header(tags[0], 'brokernat-src')}")


def _causes(dead: Sequence[Record]) -> EventTable:
    causes = Counter(_header(record, _CAUSE) for record in dead)
    example = {_header(record, _CAUSE): _header(record, _MESSAGE) for record in dead}
    rows = tuple((str(causes[cause]), cause, _cut(example[cause])) for cause in sorted(causes))
    return EventTable(("records", "cause", "for example"), rows)


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_WIDTH else f"{text[: _MESSAGE_WIDTH - 2]} …"


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")


def _header(record: Record, name: str) -> str:
    return _text(record.header(name))
