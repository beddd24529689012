"""Which dead letters have been replayed: a ledger beside the checkpoint, one file for each chunk.

A chunk is noted before it is written (`begun.json`: the coordinates, and where the tags' topic ended) and entered into
the ledger after every record is acknowledged. A process that is killed in between leaves the note: what the sink holds
behind the noted ends was written, and the rest of the chunk was not. So the ledger never has a record that did not come
out, and a record that came out is found whether or not it was entered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.pipelines.checkpoint.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class BegunChunk:
    """A chunk that may be written in part: the records' coordinates, and the ends of the tags' topic before it."""

    coordinates: tuple[str, ...]
    ends: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The files of one pipeline in `folder`."""

    files: Files
    folder: str

    def replayed(self, spark: SparkSession) -> DataFrame:
        """`coordinates` of the records that were replayed."""
        schema = "coordinates string"
        if not self._entered():
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).json(f"{self.folder}/*.replayed")

    def begun(self) -> BegunChunk | None:
        """The chunk that a killed process has left, None without one."""
        text = self.files.read_text(self._note)
        if text is None:
            return None
        found = json.loads(text)
        return BegunChunk(tuple(found["coordinates"]), {int(n): end for n, end in found["ends"].items()})

    def begin(self, chunk: BegunChunk) -> None:
        """Notes a chunk before it is written."""
        self.files.write_text(self._note, json.dumps({"coordinates": chunk.coordinates, "ends": dict(chunk.ends)}))

    def enter(self, coordinates: Iterable[str]) -> None:
        """Enters records that came out, and ends the chunk; killed in between, the same are entered again."""
        lines = [json.dumps({"coordinates": each}) for each in coordinates]
        if lines:
            self.files.write_text(f"{self.folder}/{self._entered()}.replayed", "\n".join(lines))
        self.files.remove(self._note)

    @property
    def _note(self) -> str:
        return f"{self.folder}/begun.json"

    def _entered(self) -> int:
        return len(self.files.stamps(f"{self.folder}/*.replayed"))
