"""The committed offsets of a checkpoint: the records whose tags and dead letters must be in the sink.

Spark keeps the offsets of the first start in `sources/0/0`, the end of batch N in `offsets/N`, and writes `commits/N`
when all of it is written. Old batches are removed, so the start comes from `sources/0/0` and the end from the last
batch with a commit. A partition that `sources/0/0` does not name was added later and is read from 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from brokernat.pipelines.checkpoint.files import Files

Offsets = dict[str, dict[int, int]]
"""By topic and partition."""
_EARLIEST = -2
"""Spark's number for the earliest offset."""


@dataclass(frozen=True, slots=True)
class Range:
    """Offsets from `begin` (inclusive) to `end` (exclusive)."""

    begin: Mapping[str, Mapping[int, int]]
    end: Mapping[str, Mapping[int, int]]


def read_committed(files: Files, checkpoint: str) -> Range | None:
    """The committed offsets, None before the first commit."""
    batches = _numbers(files, f"{checkpoint}/commits")
    if not batches:
        return None
    end = offsets(files.read_text(f"{checkpoint}/offsets/{max(batches)}") or "")
    return _range(_start_offsets(files, checkpoint), end)


def read_uncommitted(files: Files, checkpoint: str) -> Range | None:
    """The offsets of the started, uncommitted batch; None without one."""
    offset_files = uncommitted(files, checkpoint)
    if not offset_files:
        return None
    committed = read_committed(files, checkpoint)
    begin = committed.end if committed else _start_offsets(files, checkpoint)
    return _range(begin, offsets(files.read_text(offset_files[0]) or ""))


def uncommitted(files: Files, checkpoint: str) -> list[str]:
    """The offset files of batches without a commit: at most one, the last."""
    commits = _numbers(files, f"{checkpoint}/commits")
    return [f"{checkpoint}/offsets/{number}" for number in _numbers(files, f"{checkpoint}/offsets") - commits]


def _start_offsets(files: Files, checkpoint: str) -> Offsets:
    return offsets(files.read_text(f"{checkpoint}/sources/0/0") or "{}")


def _range(begin: Mapping[str, Mapping[int, int]], end: Offsets) -> Range:
    return Range(
        {topic: {number: begin.get(topic, {}).get(number, 0) for number in ends} for topic, ends in end.items()}, end
    )


def _numbers(files: Files, folder: str) -> set[int]:
    names = (stamp.path.rpartition("/")[2] for stamp in files.stamps(folder))
    return {int(name) for name in names if name.isdigit()}


def offsets(text: str) -> Offsets:
    """The offsets in one of Spark's files: its last line, after a version and settings."""
    # `sources/0/0` starts with a NUL, for compatibility with Spark 2.1.
    by_topic = json.loads(text.lstrip("\0").splitlines()[-1])
    return {topic: {int(number): end for number, end in partitions.items()} for topic, partitions in by_topic.items()}


def every_partition(starting: Offsets, partitions: Mapping[str, int]) -> Offsets:
    """The offsets with an entry for each partition of a topic, as Spark requires; new partitions start at the first
    offset.

    >>> every_partition({"orders": {0: 7}}, {"orders": 2})
    {'orders': {0: 7, 1: -2}}
    """
    return {
        topic: {number: starting.get(topic, {}).get(number, _EARLIEST) for number in range(count)}
        for topic, count in partitions.items()
    }


def as_option(by_topic: Mapping[str, Mapping[int, int]]) -> str:
    """Offsets in the format of Spark's options `startingOffsets` and `endingOffsets`."""
    return json.dumps({topic: {str(n): offset for n, offset in ends.items()} for topic, ends in by_topic.items()})
