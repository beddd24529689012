"""What an ELF file says about how it was linked: enough to tell what a preloaded library can reach.

Read from the program headers, which every program has, and not from the sections, which `strip` may take away: a
program without an interpreter is statically linked, and the loader ignores `LD_PRELOAD` for it. Only the Go
toolchain's mark is looked for in the bytes, because it has no header of its own. (System V ABI, ELF-64 and ELF-32.)
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\x7fELF"
_GO_MARK = b"\xff Go buildinf:"  # debug/buildinfo
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRING_TABLE = 1, 5


@dataclass(frozen=True, slots=True)
class Elf:
    """How a program was linked."""

    interpreter: str | None
    """The loader's path; None in a statically linked program."""
    needed: tuple[str, ...]
    """The shared libraries that it names itself, `librdkafka.so.1`."""
    go: bool
    mentions_rdkafka: bool
    """The name of librdkafka's constructor stands in it: imported, looked up, or built in."""

    @property
    def static(self) -> bool:
        """Whether nothing is loaded into it."""
        return self.interpreter is None

    def needs(self, library: str) -> bool:
        """Whether it is linked to a library, whatever the version: `librdkafka`."""
        return any(name.startswith(f"{library}.so") for name in self.needed)


@dataclass(frozen=True, slots=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: Path) -> Elf | None:
    """What `path` says, or None where it is no ELF file or not a whole one.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _read(data)
            except (struct.error, IndexError, ValueError):
                return None


def _read(data: mmap.mmap) -> Elf:
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"  # ELFCLASS64, ELFDATA2LSB
    segments = list(_segments(data, order, wide=wide))
    interpreter = next((_text(data, one.offset) for one in segments if one.kind == _INTERPRETER), None)
    return Elf(
        interpreter=interpreter,
        needed=tuple(_needed(data, segments, f"{order}{'qQ' if wide else 'iI'}")),
        go=data.find(_GO_MARK) >= 0,
        mentions_rdkafka=data.find(b"rd_kafka_new") >= 0,
    )


def _segments(data: mmap.mmap, order: str, *, wide: bool) -> Iterator[_Segment]:
    (start,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", data, 54 if wide else 42)
    for place in range(start, start + size * count, size):
        if wide:
            kind, _, offset, address, _, length = struct.unpack_from(f"{order}IIQQQQ", data, place)
        else:
            kind, offset, address, _, length = struct.unpack_from(f"{order}IIIII", data, place)
        yield _Segment(kind, offset, address, length)


def _needed(data: mmap.mmap, segments: list[_Segment], entry: str) -> Iterator[str]:
    """The dynamic section is pairs of a tag and a value; names are offsets into a table given by its address."""
    dynamic = next((one for one in segments if one.kind == _DYNAMIC), None)
    if dynamic is None:
        return
    pairs = list(struct.iter_unpack(entry, data[dynamic.offset : dynamic.offset + dynamic.size]))
    table = next((value for tag, value in pairs if tag == _STRING_TABLE), None)
    home = next(
        (one for one in segments if one.kind == _LOAD and table and one.address <= table < one.address + one.size), None
    )
    if table is None or home is None:
        return
    names = table - home.address + home.offset
    yield from (_text(data, names + value) for tag, value in pairs if tag == _NEEDED)


def _text(data: mmap.mmap, start: int) -> str:
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name without an end")
    return data[start:end].decode("utf-8", "replace")
