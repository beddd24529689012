"""A process that replays is killed between any two of its changes of the ledger."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokernat.pipelines.checkpoint.files import Files
from brokernat.pipelines.reading_back.replay import BegunChunk, Ledger, chunks


class KilledError(Exception):
    """Instead of the next change."""


class Disk:
    """As much of `Files` as a ledger needs; it takes `changes` more."""

    def __init__(self, changes: int) -> None:
        self.changes = changes
        self.texts: dict[str, str] = {}

    def _change(self) -> None:
        if not self.changes:
            raise KilledError
        self.changes -= 1

    def stamps(self, pattern: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(path=path) for path in self.texts if fnmatch(path, pattern)]

    def read_text(self, path: str) -> str | None:
        return self.texts.get(path)

    def write_text(self, path: str, text: str) -> None:
        self._change()
        self.texts[path] = text

    def remove(self, path: str) -> None:
        self._change()
        self.texts.pop(path, None)


def entered(disk: Disk) -> set[str]:
    texts = [text for path, text in disk.texts.items() if path.endswith(".replayed")]
    return {json.loads(line)["coordinates"] for text in texts for line in text.splitlines()}


@pytest.mark.parametrize("changes", range(7))
def test_what_may_have_come_out_is_in_the_ledger_or_in_the_note(changes: int) -> None:
    disk = Disk(changes)
    ledger = Ledger(cast("Files", cast("Any", disk)), "replay")
    chunks = [BegunChunk(("c/orders/0/1", "c/orders/0/2"), {0: 5}), BegunChunk(("c/orders/0/3",), {0: 7, 1: 2})]
    written: set[str] = set()
    try:
        for chunk in chunks:
            ledger.begin(chunk)
            written.update(chunk.coordinates)
            ledger.enter(chunk.coordinates)
    except KilledError:
        pass
    begun = ledger.begun()
    assert written <= entered(disk) | set(begun.coordinates if begun else ())
    assert begun is None or begun in chunks
    assert (begun is None) == (changes in (0, 3, 6))


def test_a_topic_of_more_partitions_than_a_chunk_has_offsets_is_read_to_its_end() -> None:
    begin = dict.fromkeys(range(5), 0)
    found = chunks(begin, dict.fromkeys(begin, 2), 3)
    assert [next(found, None) for _ in range(3)] == [
        (begin, dict.fromkeys(begin, 1)),
        (dict.fromkeys(begin, 1), dict.fromkeys(begin, 2)),
        None,
    ]
