"""What a pipeline was when it last started, noted beside its checkpoint, and what each change means for that.

A checkpoint holds offsets and nothing of what is done to records, so most changes are allowed; they hold from the next
batch on. The note has digests where a text could hold a password or a whole file. A note that lacks a part, because an
older version has written it, says nothing of this part.
"""

from __future__ import annotations

import enum
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark.releases import numbers
from brokernat.errors import BrokernatError
from brokernat.pipelines.steps.transform import load_transform

if TYPE_CHECKING:
    from brokernat.config.model import Decode, Encode
    from brokernat.pipelines.prepared import Prepared


class Meaning(enum.StrEnum):
    """What becomes of the checkpoint."""

    KEPT = "kept"
    KEPT_WITH_WARNING = "kept; a new one is needed where the change must hold for all records"
    REFUSED = "refused: a new one is needed"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a pipeline between two starts; `name` is that of its part in the note, where it has one."""

    name: str
    what: str
    meaning: Meaning
    consequence: str


_FROM_NOW_ON = "it holds from the next batch on; a batch that was cut is run again with it, so copies may differ"
CHANGES = (
    Change("decode", "`decode`, or the file or the subject of its schema", Meaning.KEPT, _FROM_NOW_ON),
    Change("transform", "the transform, or the file that it is in", Meaning.KEPT, _FROM_NOW_ON),
    Change("enrich", "`enrich`", Meaning.KEPT, _FROM_NOW_ON),
    Change(
        "key", "`sink.key`", Meaning.KEPT, "tags get another key, and with it another partition, from the next batch on"
    ),
    Change("encode", "`sink.encode`, or the file or the subject of its schema", Meaning.KEPT, _FROM_NOW_ON),
    Change("mode", "`mode`", Meaning.KEPT, "both modes share the checkpoint"),
    Change("topics", "a topic more in `source.topics`", Meaning.KEPT, "it is read from its beginning"),
    Change(
        "starting_offsets",
        "`starting_offsets`",
        Meaning.KEPT_WITH_WARNING,
        "it has no effect: the run goes on from the checkpoint",
    ),
    Change(
        "sink",
        "the topic or the cluster of the sink",
        Meaning.KEPT_WITH_WARNING,
        "earlier tags stay where they are, and `reconcile` counts them as missing",
    ),
    Change(
        "dead_letters",
        "the topic of dead letters",
        Meaning.KEPT_WITH_WARNING,
        "earlier dead letters stay where they are: `replay` does not find them, and `reconcile` counts them as missing",
    ),
    Change(
        "spark",
        "an older Spark than before",
        Meaning.KEPT_WITH_WARNING,
        "Spark reads checkpoints of older versions; of a newer one it may not",
    ),
    Change("gone", "a topic less in `source.topics`", Meaning.REFUSED, "the checkpoint has offsets of it"),
    Change(
        "made-again", "a topic of the source that was made again", Meaning.REFUSED, "its offsets are of deleted records"
    ),
    Change("source", "the cluster of the source", Meaning.REFUSED, "the offsets are of another cluster"),
    Change("name", "the name of the pipeline", Meaning.REFUSED, "the checkpoint belongs to another pipeline"),
)


def definition(prepared: Prepared) -> dict[str, str]:
    """What is noted of a pipeline, by the names of `CHANGES`."""
    import pyspark

    pipeline = prepared.pipeline
    found = {
        "enrich": _digest([join.model_dump(exclude_defaults=True) for join in pipeline.enrich]),
        "key": pipeline.sink.key or "",
        "mode": pipeline.mode,
        "topics": " ".join(pipeline.source.topics),
        "starting_offsets": pipeline.source.starting_offsets,
        "sink": f"{pipeline.sink.cluster}/{pipeline.sink.topic}",
        "dead_letters": f"{pipeline.sink.cluster}/{pipeline.sink.dead_letters}",
        "spark": pyspark.__version__,
    }
    return found | _formats(prepared) | _transform(pipeline.transform, prepared.folder)


def changes(noted: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Change]:
    """The changes since the note; those that are refused are found by what the checkpoint is of (`state.foreign`)."""
    for change in CHANGES:
        before, after = noted.get(change.name), now.get(change.name)
        if before is None or after is None or before == after:
            continue
        if change.name == "spark" and numbers(after) > numbers(before):
            continue
        if change.name == "topics" and set(after.split()) <= set(before.split()):
            continue
        yield change


def _transform(name: str | None, folder: Path) -> dict[str, str]:
    if name is None:
        return {"transform": ""}
    try:
        load_transform(name, folder)
    except BrokernatError:
        # Whoever tries the steps says so.
        return {}
    file = Path(sys.modules[name.partition(":")[0]].__file__ or "")
    return {"transform": f"{name} {_digest(_text(file))}"}


def _formats(prepared: Prepared) -> dict[str, str]:
    sections = {"decode": prepared.pipeline.decode, "encode": prepared.pipeline.sink.encode}
    try:
        newest = {name: schema.read or schema.text for name, schema in prepared.newest_schemas().items()}
    except BrokernatError:
        # Whoever tries the steps says so.
        newest = None
    return {
        name: _format(section, (newest or {}).get(name)) if section else ""
        for name, section in sections.items()
        if newest is not None or section is None or section.registry is None
    }


def _format(section: Decode | Encode, newest: str | None) -> str:
    parts = section.model_dump(by_alias=True, exclude_defaults=True)
    if section.schema_file is not None:
        parts["schema_file"] = _text(Path(section.schema_file))
    if newest is not None:
        parts["newest"] = newest
    return _digest(parts)


def _text(file: Path) -> str:
    return file.read_text("utf-8", "surrogateescape") if file.is_file() else ""


def _digest(value: Any) -> str:
    # A secret's text is its name and not its value.
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
