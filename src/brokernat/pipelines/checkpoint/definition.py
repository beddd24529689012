"""The stored definition of a pipeline, and what each change means for its checkpoint.

A checkpoint has only offsets, so most changes are allowed; they apply from the next batch on. The definition is stored
next to the checkpoint at each start, with digests instead of texts that could hold a password or a whole file. A part
that an older version of brokernat did not store is not compared.
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
    """The consequence of a change for the checkpoint."""

    KEPT = "kept"
    KEPT_WITH_WARNING = "kept; a new one is needed if the change must apply to all records"
    REFUSED = "refused: a new one is needed"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a pipeline between two starts; `name` is the key of the part in the definition, if it has one."""

    name: str
    what: str
    meaning: Meaning
    consequence: str


_FROM_NOW_ON = "it applies from the next batch on; an interrupted batch runs again with it, so duplicates may differ"
CHANGES = (
    Change("decode", "`decode`, or the file or the subject of its schema", Meaning.KEPT, _FROM_NOW_ON),
    Change("transform", "the transform, or its file", Meaning.KEPT, _FROM_NOW_ON),
    Change("enrich", "`enrich`", Meaning.KEPT, _FROM_NOW_ON),
    Change("key", "`sink.key`", Meaning.KEPT, "from the next batch on tags get another key, and so another partition"),
    Change("encode", "`sink.encode`, or the file or the subject of its schema", Meaning.KEPT, _FROM_NOW_ON),
    Change("mode", "`mode`", Meaning.KEPT, "both modes share the checkpoint"),
    Change("topics", "a topic added to `source.topics`", Meaning.KEPT, "it is read from its beginning"),
    Change(
        "starting_offsets",
        "`starting_offsets`",
        Meaning.KEPT_WITH_WARNING,
        "no effect: the run continues from the checkpoint",
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
        "an older Spark",
        Meaning.KEPT_WITH_WARNING,
        "Spark may be unable to read the checkpoint of a newer version",
    ),
    Change("gone", "a topic removed from `source.topics`", Meaning.REFUSED, "the checkpoint has offsets of it"),
    Change(
        "made-again",
        "a topic of the source that was recreated",
        Meaning.REFUSED,
        "its offsets belong to deleted records",
    ),
    Change("source", "the cluster of the source", Meaning.REFUSED, "the offsets belong to another cluster"),
    Change("name", "the name of the pipeline", Meaning.REFUSED, "the checkpoint belongs to another pipeline"),
)


def definition(prepared: Prepared) -> dict[str, str]:
    """The definition of a pipeline, by the names of `CHANGES`."""
    import pyspark

    pipeline = prepared.pipeline
    parts = {
        "enrich": _digest([join.model_dump(exclude_defaults=True) for join in pipeline.enrich]),
        "key": pipeline.sink.key or "",
        "mode": pipeline.mode,
        "topics": " ".join(pipeline.source.topics),
        "starting_offsets": pipeline.source.starting_offsets,
        "sink": f"{pipeline.sink.cluster}/{pipeline.sink.topic}",
        "dead_letters": f"{pipeline.sink.cluster}/{pipeline.sink.dead_letters}",
        "spark": pyspark.__version__,
    }
    return parts | _formats(prepared) | _transform(pipeline.transform, prepared.folder)


def changes(stored: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Change]:
    """The changes since the stored definition; `state.foreign` finds those that are refused."""
    for change in CHANGES:
        before, after = stored.get(change.name), now.get(change.name)
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
        # The check of the steps, or the start of the query, reports this error.
        return {}
    file = Path(sys.modules[name.partition(":")[0]].__file__ or "")
    return {"transform": f"{name} {_digest(_text(file))}"}


def _formats(prepared: Prepared) -> dict[str, str]:
    sections = {"decode": prepared.pipeline.decode, "encode": prepared.pipeline.sink.encode}
    try:
        newest = {name: schema.read or schema.text for name, schema in prepared.newest_schemas().items()}
    except BrokernatError:
        # The check of the steps, or the start of the query, reports this error.
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
    # Every Secret is `***` here: a new password alone is no change.
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
