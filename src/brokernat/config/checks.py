"""Checks across sections: references to names, keys that exclude each other, columns that no schema has.

The checks read the plain data, not the model, so they also work if another part of the file is invalid. Each takes the
document and yields problems. A file with warnings still loads (`lint.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from os.path import normpath
from pathlib import Path as FilePath
from typing import Final

from pydantic import TypeAdapter, ValidationError

from brokernat.address import Endpoint, pair
from brokernat.config.document import Document, Path, Value
from brokernat.config.fields import Endpoints
from brokernat.config.model import Decode, Encode, Pipeline
from brokernat.config.problems import did_you_mean
from brokernat.config.record_schema import read_schema_file
from brokernat.errors import ConfigError, Finding

MISPLACED_REFERENCE = "reference-misplaced"
_ENDPOINTS: Final = TypeAdapter[tuple[Endpoint, ...]](Endpoints)


def check(document: Document) -> Iterator[Finding]:
    """All problems between sections."""
    for one in _CHECKS:
        yield from one(document)


def _one_kind_of_map(document: Document) -> Iterator[Finding]:
    for name in document.section("clusters"):
        cluster = document.section("clusters", name)
        if cluster.get("address_map") is not None and cluster.get("broker_nat") is not None:
            yield Finding(
                "two-maps",
                "`address_map` and `broker_nat` exclude each other",
                "keep `address_map`; `broker_nat` is its short form",
                document.locate(("clusters", name, "broker_nat"), key=True),
            )


def _lists_pair_up(document: Document) -> Iterator[Finding]:
    for name in document.section("clusters"):
        cluster = document.section("clusters", name)
        try:
            servers = _ENDPOINTS.validate_python(cluster.get("bootstrap_servers"))
            pair(servers, _ENDPOINTS.validate_python(cluster.get("broker_nat")))
        except ValidationError:
            # The model reports it.
            continue
        except ConfigError as error:
            yield from (each.at(document.locate(("clusters", name, "broker_nat"))) for each in error.problems)


def _maps_have_content(document: Document) -> Iterator[Finding]:
    for name in document.section("clusters"):
        cluster = document.section("clusters", name)
        for key in ("address_map", "broker_nat"):
            if key in cluster and cluster[key] is None:
                hint = "remove the line, or write `address_map: []` to ignore the JVM's map for this cluster"
                yield Finding("empty", f"`{key}` is empty", hint, document.locate(("clusters", name, key), key=True))


def _clusters_exist(document: Document) -> Iterator[Finding]:
    for path, name in used_clusters(document):
        yield from _exists(document, path, name, document.section("clusters"), "cluster")


def used_clusters(document: Document) -> Iterator[tuple[Path, Value]]:
    """The clusters of pipelines and shipments, and where they are named."""
    sections: list[tuple[str, ...]] = []
    for name in document.section("pipelines"):
        sections += [("pipelines", name, end) for end in ("source", "sink")]
        references = document.section("pipelines", name, "references")
        sections += [("pipelines", name, "references", reference, "kafka") for reference in references]
    sections += [("shipping", name) for name in document.section("shipping")]
    for section in sections:
        yield (*section, "cluster"), document.section(*section).get("cluster")


def _references_exist(document: Document) -> Iterator[Finding]:
    for name in document.section("pipelines"):
        pipeline = document.section("pipelines", name)
        known = document.section("pipelines", name, "references")
        joins = pipeline.get("enrich")
        for index, join in enumerate(joins if isinstance(joins, list) else ()):
            if isinstance(join, dict):
                path = ("pipelines", name, "enrich", index, "reference")
                yield from _exists(document, path, join.get("reference"), known, "reference")


def _exists(document: Document, path: Path, value: Value, known: Iterable[str], what: str) -> Iterator[Finding]:
    names = list(known)
    if isinstance(value, str) and value not in names:
        listed = f"{what}s of this file: {', '.join(f'`{name}`' for name in names)}" if names else None
        hint = did_you_mean(value, names) or listed
        yield Finding(f"unknown-{what}", f"there is no {what} `{value}`", hint, document.locate(path))


def _topics_differ(document: Document) -> Iterator[Finding]:
    for name in document.section("pipelines"):
        source = document.section("pipelines", name, "source")
        sink = document.section("pipelines", name, "sink")
        topics = source.get("topics")
        for key in ("topic", "dead_letters"):
            topic, path = sink.get(key), ("pipelines", name, "sink", key)
            if key == "dead_letters" and topic is not None and topic == sink.get("topic"):
                message = f"`{topic}` is the topic of both tags and dead letters"
                yield Finding("same-topic", message, "use another topic for dead letters", document.locate(path))
            if isinstance(topics, list) and topic in topics and source.get("cluster") == sink.get("cluster"):
                message = f"`{topic}` is read and written by the same pipeline"
                yield Finding(
                    "same-topic",
                    message,
                    "write to another topic: the pipeline would read its own output",
                    document.locate(path),
                )


def _spools_differ(document: Document) -> Iterator[Finding]:
    return _folders_differ(document, "shipping", "spool", "give each topic its own folder")


def _checkpoints_differ(document: Document) -> Iterator[Finding]:
    return _folders_differ(document, "pipelines", "checkpoint", "give each pipeline its own folder")


def _folders_differ(document: Document, section: str, key: str, hint: str) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name in document.section(section):
        folder, path = document.section(section, name).get(key), (section, name, key)
        if isinstance(folder, str):
            uri = "://" in folder
            located = folder.rstrip("/") if uri else normpath(FilePath(document.source).absolute().parent / folder)
            other = first.setdefault(located, name)
            if other != name:
                yield Finding(f"same-{key}", f"`{folder}` is the {key} of `{other}`, too", hint, document.locate(path))


def _names_can_be_printed(document: Document) -> Iterator[Finding]:
    """Names appear in messages, options and generated files."""
    for section in ("clusters", "pipelines", "shipping"):
        for name in document.section(section):
            if not name.strip() or not name.isprintable():
                fault = "has a character that cannot be printed" if name.strip() else "is empty"
                location = document.locate((section, name), key=True)
                yield Finding("bad-name", f"a name in `{section}` {fault}", "write for example `hq`", location)


_REFERENCE = re.compile(r"(?<!\$)\$\{(?:env|file):[^}]*\}?")


def _references_are_read(document: Document) -> Iterator[Finding]:
    """References where nothing replaces them."""
    for path, text in _texts(document.data, ()):
        found = _REFERENCE.search(text)
        if found and not {"client", "jdbc"} & {*path[2:-1]}:
            hint = "write the value itself: references work under `client` and `jdbc`"
            message = f"`{found[0]}` is not replaced here"
            yield Finding(MISPLACED_REFERENCE, message, hint, document.locate(path))


def _texts(value: Value, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(each, (*path, step))


def _shipments_have_names_of_their_own(document: Document) -> Iterator[Finding]:
    if "status" in document.section("shipping"):
        message = "`status` cannot name a shipment, because `brokernat ship status` prints the state of spools"
        location = document.locate(("shipping", "status"), key=True)
        yield Finding("reserved-name", message, "give the shipment another name", location)


def _options_fit_the_mode(document: Document) -> Iterator[Finding]:
    for name in document.section("pipelines"):
        pipeline = document.section("pipelines", name)
        mode = "realtime" if pipeline.get("mode") == "realtime" else "micro-batch"
        for key, hint in _OF_ONE_MODE[mode].items():
            *sections, option = path = ("pipelines", name, *key)
            if option in document.section(*sections):
                message = f"`{option}` has no effect with `mode: {mode}`"
                yield Finding("other-mode", message, hint, document.locate(path, key=True))
        for reference in document.section("pipelines", name, "references"):
            refresh = ("pipelines", name, "references", reference, "refresh")
            if document.section(*refresh[:-1]).get("refresh") == _REFRESH_OF_OTHER[mode]:
                message = f"`refresh: {_REFRESH_OF_OTHER[mode]}` does not work with `mode: {mode}`"
                yield Finding("other-mode", message, _REFRESH_HINTS[mode], document.locate(refresh))


_OF_ONE_MODE: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "realtime": {
        ("trigger_interval",): "remove it: records are written as they come, and progress is committed each `epoch`",
        ("source", "max_offsets_per_trigger"): "remove it: Spark's Real-Time Mode refuses limits of records",
        ("source", "min_partitions"): "remove it: Real-Time Mode reads each partition with one task",
    },
    "micro-batch": {("epoch",): "write `trigger_interval`, or set `mode: realtime`"},
}
_REFRESH_OF_OTHER = {"realtime": "every_batch", "micro-batch": "every_epoch"}
_REFRESH_HINTS = {
    "realtime": "write `every_epoch`: when the files change, the query ends with its epoch and starts again",
    "micro-batch": "write `every_batch`",
}


def _keys_are_columns(document: Document) -> Iterator[Finding]:
    """Keys of joins that occur in no schema of the file. Columns of schema files and of servers are unknown here."""
    for name in document.section("pipelines"):
        pipeline = document.section("pipelines", name)
        known = [document.section("pipelines", name, "decode").get("schema")]
        joins = pipeline.get("enrich")
        for index, join in enumerate(joins if isinstance(joins, list) else ()):
            key, reference = (join.get("key"), join.get("reference")) if isinstance(join, dict) else (None, None)
            columns = document.section("pipelines", name, "references", str(reference)).get("schema")
            for side, schemas in (("the record", known), (f"reference `{reference}`", [columns])):
                words = [word for each in schemas if isinstance(each, str) for word in re.findall(r"\w+", each)]
                if isinstance(key, str) and all(isinstance(each, str) for each in schemas) and not _occurs(key, words):
                    location = document.locate(("pipelines", name, "enrich", index, "key"))
                    message = f"`{key}` is no column of {side}"
                    yield Finding("unknown-column", message, did_you_mean(key, words), location)
            known.append(columns)


def _occurs(column: str, words: Iterable[str]) -> bool:
    """Whether all words of a column's name are there; Spark ignores their case."""
    return {*re.findall(r"\w+", column.lower())} <= {word.lower() for word in words}


_CHECKS = (
    _one_kind_of_map,
    _lists_pair_up,
    _maps_have_content,
    _clusters_exist,
    _references_exist,
    _topics_differ,
    _spools_differ,
    _shipments_have_names_of_their_own,
    _checkpoints_differ,
    _names_can_be_printed,
    _references_are_read,
    _options_fit_the_mode,
    _keys_are_columns,
)


def check_schema_files(pipelines: Mapping[str, Pipeline], document: Document) -> Iterator[Finding]:
    """All problems of the schema files of pipelines.

    Loading does not call this: a command without a pipeline may run on a host without these files.
    """
    for name, pipeline in pipelines.items():
        sections: list[tuple[Decode | Encode | None, Path]] = [
            (pipeline.decode, ("decode",)),
            (pipeline.sink.encode, ("sink", "encode")),
        ]
        for reference, described in pipeline.references.items():
            if described.kafka:
                sections.append((described.kafka.decode, ("references", reference, "kafka", "decode")))
        for section, path in sections:
            if section is not None and section.schema_file is not None:
                try:
                    read_schema_file(section)
                except ConfigError as error:
                    location = document.locate(("pipelines", name, *path, "schema_file"))
                    yield from (problem.at(location) for problem in error.problems)
