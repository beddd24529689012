"""Which offsets a checkpoint has committed: the records whose tags and dead letters must be in the sink.

Spark keeps the offsets of the first start in `sources/0/0`, the end of batch N in `offsets/N`, and writes `commits/N`
when all of it is written. Old batches are removed, so the beginning is taken from the first place and the end from the
last batch that has a commit. A partition that the beginning does not name was added later and is read from 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from brokernat.pipelines.checkpoint.files import Files

Offsets = dict[str, dict[int, int]]
"""By topic and partition."""
_EARLIEST = -2
"""What Spark takes for the first offset that is there."""


@dataclass(frozen=True, slots=True)
class Range:
    """From `begin` on, up to and without `end`."""

    begin: Mapping[str, Mapping[int, int]]
    end: Mapping[str, Mapping[int, int]]


def read_committed(files: Files, checkpoint: str) -> Range | None:
    """What a checkpoint says, None where no batch was ever committed."""
    batches = _numbers(files, f"{checkpoint}/commits")
    if not batches:
        return None
    end = offsets(files.read_text(f"{checkpoint}/offsets/{max(batches)}") or "")
    return _from(_first(files, checkpoint), end)


def read_uncommitted(files: Files, checkpoint: str) -> Range | None:
    """What the batch reads that has begun and is not committed, None where there is none."""
    begun = uncommitted(files, checkpoint)
    if not begun:
        return None
    committed = read_committed(files, checkpoint)
    begin = committed.end if committed else _first(files, checkpoint)
    return _from(begin, offsets(files.read_text(begun[0]) or ""))


def uncommitted(files: Files, checkpoint: str) -> list[str]:
    """The files with the offsets of batches that have no commit: at most that of the last one."""
    commits = _numbers(files, f"{checkpoint}/commits")
    return [f"{checkpoint}/offsets/{number}" for number in _numbers(files, f"{checkpoint}/offsets") - commits]


def _first(files: Files, checkpoint: str) -> Offsets:
    return offsets(files.read_text(f"{checkpoint}/sources/0/0") or "{}")


def _from(begin: Mapping[str, Mapping[int, int]], end: Offsets) -> Range:
    return Range(
        {topic: {number: begin.get(topic, {}).get(number, 0) for number in ends} for topic, ends in end.items()}, end
    )


def _numbers(files: Files, folder: str) -> set[int]:
    names = (stamp.path.rpartition("/")[2] for stamp in files.stamps(folder))
    return {int(name) for name in names if name.isdigit()}


def offsets(text: str) -> Offsets:
    """The offsets in one of Spark's files: the last line; a version and settings stand before it."""
    # The file of the beginning starts with a NUL, for Spark 2.1's sake.
    found = json.loads(text.lstrip("\0").splitlines()[-1])
    return {topic: {int(number): end for number, end in partitions.items()} for topic, partitions in found.items()}


def every_partition(starting: Offsets, partitions: Mapping[str, int]) -> Offsets:
    """The offsets with an entry for each partition that its topic has, as Spark demands; new ones begin at the first.

    >>> every_partition({"orders": {0: 7}}, {"orders": 2})
    {'orders': {0: 7, 1: -2}}
    """
    return {
        topic: {number: starting.get(topic, {}).get(number, _EARLIEST) for number in range(count)}
        for topic, count in partitions.items()
    }


def as_option(places: Mapping[str, Mapping[int, int]]) -> str:
    """Offsets as Spark's options `startingOffsets` and `endingOffsets` take them."""
    return json.dumps({topic: {str(number): at for number, at in one.items()} for topic, one in places.items()})
