"""Recognises a program, and the ways to inject the map into its Kafka client.

The program is searched in the child's PATH, as by `execvp`; a name with a slash is a path. The exit code is 126 for a
file that cannot be executed and 127 for a missing one, as in shells and `env`.

| kind | recognised by | ways |
|---|---|---|
| java | the name `java`, or linked to the launcher's library `libjli` | jvm |
| kafka tool | a shell script that starts `kafka-run-class` | jvm |
| spark | `spark-submit`, `pyspark`, `spark-shell`, `spark-sql`, ... | jvm, librdkafka, python |
| python | an interpreter's name, or a script whose first line names one | jvm (PySpark), librdkafka, python |
| librdkafka | linked to `librdkafka.so` (kcat) | librdkafka |
| shell, other | any other dynamically linked program: it may start all of the above | jvm, librdkafka, python |

An unknown program gets all three ways: each has no effect in a program without such a client. A program without any way
(statically linked, Go) is refused, because it would dial unreachable addresses. A program that only starts another one
passes the environment on, however it is linked.

The ELF program headers show how a program is linked (System V ABI, ELF-64 and ELF-32). Every program has them, whereas
`strip` may remove sections. A program without an ELF interpreter is statically linked, and `LD_PRELOAD` has no effect
on it. The mark of the Go toolchain has no header, so it is searched in the bytes.
"""

from __future__ import annotations

import enum
import mmap
import os
import re
import shlex
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brokernat.errors import ConfigError, Finding, NotExecutableError, ProgramNotFoundError

_HEAD: Final = 64 << 10
# ELF: magic bytes, segment types, tags of the dynamic section.
_MAGIC = b"\x7fELF"
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRING_TABLE = 1, 5
# debug/buildinfo
_GO_MARK = b"\xff Go buildinf:"


@dataclass(frozen=True, slots=True)
class Program:
    """An executable file."""

    path: Path
    """Absolute, links are not resolved: the Python of a virtual environment is a link."""
    head: bytes
    """The first 64 KiB."""

    @property
    def interpreter(self) -> tuple[str, ...]:
        """The words of the `#!` line; empty for a binary and for a script without one."""
        if not self.head.startswith(b"#!"):
            return ()
        line = self.head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
        try:
            return tuple(shlex.split(line))
        except ValueError:
            return tuple(line.split())

    @property
    def text(self) -> str | None:
        """The beginning of a script; None for a binary."""
        return None if b"\0" in self.head else self.head.decode("utf-8", "replace")


def find_program(word: str, environ: Mapping[str, str]) -> Program:
    """The program for `word`.

    Raises:
        ProgramNotFoundError: there is no such file (exit code 127).
        NotExecutableError: it is a directory, or this user may not execute or read it (126).
    """
    if not word:
        raise ProgramNotFoundError(
            "the command's first word is empty", hint="check the variable or the quotes in that place"
        )
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    candidates = [Path(word)] if "/" in word else [Path(folder or ".") / word for folder in folders]
    existing = [path for path in candidates if path.is_file()]
    if not existing:
        if "/" in word and Path(word).is_dir():
            raise NotExecutableError(f"`{word}` is a directory", hint="give the path of a program in it")
        where, hint = ("", "check the path") if "/" in word else (" in the folders of PATH", "give the program's path")
        raise ProgramNotFoundError(f"`{word}` is not found{where}", hint=hint)
    chosen = next((path for path in existing if os.access(path, os.X_OK)), None)
    if chosen is None:
        hint = f"chmod +x {existing[0]}, or put its interpreter in front"
        raise NotExecutableError(f"`{existing[0]}` is not executable", hint=hint)
    try:
        with chosen.open("rb") as file:
            return Program(Path(os.path.abspath(chosen)), file.read(_HEAD))  # noqa: PTH100 - links are kept
    except PermissionError:
        # Executable but not readable: the kernel can start it, but it cannot be examined.
        return Program(Path(os.path.abspath(chosen)), b"")  # noqa: PTH100


class Way(enum.StrEnum):
    """A way to inject a map into a process and its children."""

    JVM = "jvm"
    LIBRDKAFKA = "librdkafka"
    PYTHON = "python"


class Kind(enum.StrEnum):
    """The kind of a command."""

    JAVA = "java"
    KAFKA_TOOL = "kafka tool"
    SPARK = "spark"
    PYTHON = "python"
    LIBRDKAFKA = "librdkafka"
    SHELL = "shell"
    OTHER = "other"


_ALL = frozenset(Way)
WAYS: dict[Kind, frozenset[Way]] = {
    Kind.JAVA: frozenset({Way.JVM}),
    Kind.KAFKA_TOOL: frozenset({Way.JVM}),
    Kind.SPARK: _ALL,
    Kind.PYTHON: _ALL,
    Kind.LIBRDKAFKA: frozenset({Way.LIBRDKAFKA}),
    Kind.SHELL: _ALL,
    Kind.OTHER: _ALL,
}

SPARK_PROGRAMS = frozenset({"spark-submit", "pyspark", "spark-shell", "spark-sql", "spark-connect-shell", "sparkR"})
# Programs that start another one with a different environment.
ENVIRONMENT_CHANGERS = frozenset(
    {"sudo", "su", "doas", "pkexec", "systemd-run", "ssh", "docker", "podman", "nerdctl", "kubectl"}
)
_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?")
_STARTERS = frozenset({"dumb-init", "gosu", "su-exec", "tini", "tini-static", "uv", "uvx"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "busybox", "ksh", "zsh", "fish"})
_NAMES = {
    "java": Kind.JAVA,
    **dict.fromkeys(SPARK_PROGRAMS, Kind.SPARK),
    **dict.fromkeys(_SHELLS, Kind.SHELL),
}
_NO_WAY_HINT = (
    "nothing can be loaded into it: let it reach the brokers through `brokernat proxy` (with a tunnel, "
    "`brokernat tunnel --proxy`) or the NAT rules of `brokernat render nftables`"
)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A command's kind and the reason, as a clause."""

    kind: Kind
    reason: str
    elf: Elf | None = None


def recognise(program: Program) -> Recognised:
    """The kind of `program`.

    Raises:
        ConfigError: code `out-of-reach`: no way of injection works.
    """
    name = program.path.name
    named = Kind.PYTHON if _PYTHON.fullmatch(name) else _NAMES.get(name)
    if named is not None:
        return Recognised(named, "by its name")
    if name in _STARTERS | ENVIRONMENT_CHANGERS:
        return Recognised(Kind.OTHER, "it starts another program")
    if program.head.startswith(_MAGIC):
        return _recognise_binary(program)
    if program.text is None:
        return Recognised(Kind.OTHER, "its file type is not known")
    return _recognise_script(program)


def _recognise_binary(program: Program) -> Recognised:
    elf = read_elf(program.path)
    if elf is None:
        return Recognised(Kind.OTHER, "it is a binary that cannot be read")
    if elf.needs("libjli"):
        return Recognised(Kind.JAVA, "it is linked to libjli, the launcher of a JVM", elf)
    if elf.needs("librdkafka"):
        return Recognised(Kind.LIBRDKAFKA, "it is linked to librdkafka", elf)
    if elf.go:
        built_in = "with librdkafka built in" if elf.mentions_rdkafka else "with a Kafka client of its own, if any"
        raise _out_of_reach(program, f"is a Go program, {built_in}")
    if elf.static:
        raise _out_of_reach(program, "is statically linked")
    return Recognised(Kind.OTHER, "it is loaded dynamically", elf)


def _recognise_script(program: Program) -> Recognised:
    words = [word.rpartition("/")[2] for word in program.interpreter]
    # `#!/usr/bin/env -S python3 -u`: the interpreter is the first word that is neither env nor an option.
    runner = next((word for word in words if word != "env" and not word.startswith("-") and "=" not in word), "sh")
    text = program.text or ""
    if _PYTHON.fullmatch(runner) or _is_long_python_line(text):
        return Recognised(Kind.PYTHON, f"it is a script for {runner}")
    if runner in _SHELLS:
        if "kafka-run-class" in text or program.path.name.startswith("kafka-run-class"):
            return Recognised(Kind.KAFKA_TOOL, "it is a shell script that starts kafka-run-class")
        return Recognised(Kind.SHELL, "it is a shell script")
    return Recognised(Kind.OTHER, f"it is a script for {runner}")


def _is_long_python_line(text: str) -> bool:
    """Whether a script has pip's form for interpreter paths that are too long for a `#!` line."""
    return re.match(r"#!/bin/sh\n'''exec' \S*(python|pypy)[0-9.]* ", text) is not None


def _out_of_reach(program: Program, what: str) -> ConfigError:
    return ConfigError(Finding("out-of-reach", f"`{program.path}` {what}: it cannot load a map", _NO_WAY_HINT))


@dataclass(frozen=True, slots=True)
class Elf:
    """How a program was linked."""

    interpreter: str | None
    """The loader's path; None in a statically linked program."""
    needed: tuple[str, ...]
    """Its directly needed shared libraries, such as `librdkafka.so.1`."""
    go: bool
    mentions_rdkafka: bool
    """Whether it contains the name of librdkafka's constructor: imported, looked up, or built in."""

    @property
    def static(self) -> bool:
        """Whether it is statically linked."""
        return self.interpreter is None

    def needs(self, library: str) -> bool:
        """Whether it is linked to any version of a library such as `librdkafka`."""
        return any(name.startswith(f"{library}.so") for name in self.needed)


@dataclass(frozen=True, slots=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: Path) -> Elf | None:
    """The ELF header of `path`, or None for another or a truncated file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) != _MAGIC:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _read(data)
            except (struct.error, IndexError, ValueError):
                return None


def _read(data: mmap.mmap) -> Elf:
    is_64_bit, order = data[4] == 2, "<" if data[5] == 1 else ">"  # ELFCLASS64, ELFDATA2LSB
    segments = list(_segments(data, order, is_64_bit=is_64_bit))
    interpreter = next((_text(data, segment.offset) for segment in segments if segment.kind == _INTERPRETER), None)
    return Elf(
        interpreter=interpreter,
        needed=tuple(_needed(data, segments, f"{order}{'qQ' if is_64_bit else 'iI'}")),
        go=data.find(_GO_MARK) >= 0,
        mentions_rdkafka=data.find(b"rd_kafka_new") >= 0,
    )


def _segments(data: mmap.mmap, order: str, *, is_64_bit: bool) -> Iterator[_Segment]:
    (start,) = struct.unpack_from(f"{order}{'Q' if is_64_bit else 'I'}", data, 32 if is_64_bit else 28)
    size, count = struct.unpack_from(f"{order}HH", data, 54 if is_64_bit else 42)
    for position in range(start, start + size * count, size):
        if is_64_bit:
            kind, _, offset, address, _, length = struct.unpack_from(f"{order}IIQQQQ", data, position)
        else:
            kind, offset, address, _, length = struct.unpack_from(f"{order}IIIII", data, position)
        yield _Segment(kind, offset, address, length)


def _needed(data: mmap.mmap, segments: list[_Segment], entry: str) -> Iterator[str]:
    """The needed libraries. The dynamic section has pairs of a tag and a value; a name is an offset into a table, which
    is given by its address in memory."""
    dynamic = next((segment for segment in segments if segment.kind == _DYNAMIC), None)
    if dynamic is None:
        return
    pairs = list(struct.iter_unpack(entry, data[dynamic.offset : dynamic.offset + dynamic.size]))
    table = next((value for tag, value in pairs if tag == _STRING_TABLE), None)
    segment = next(
        (
            each
            for each in segments
            if each.kind == _LOAD and table and each.address <= table < each.address + each.size
        ),
        None,
    )
    if table is None or segment is None:
        return
    names = table - segment.address + segment.offset
    yield from (_text(data, names + value) for tag, value in pairs if tag == _NEEDED)


def _text(data: mmap.mmap, start: int) -> str:
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name without an end")
    return data[start:end].decode("utf-8", "replace")
