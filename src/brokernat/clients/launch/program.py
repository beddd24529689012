"""The file that a command's first word stands for: the child's PATH decides, as `execvp` would.

A name with a slash is a path, any other is looked up. What is found but cannot be run is told apart from what is not
found (126 and 127, as shells and `env` do), and a script's first line is read, because who runs a script is what
`exec` has to know.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brokernat.errors import NotExecutableError, ProgramNotFoundError

_HEAD: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Program:
    """A file that can be started."""

    path: Path
    """Absolute, links kept: a virtual environment's Python is known by its link."""
    head: bytes
    """The first 64 KiB."""

    @property
    def interpreter(self) -> tuple[str, ...]:
        """The words of the `#!` line; empty for a binary, and for a script that leaves it to the shell."""
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
    """What `word` starts.

    Raises:
        ProgramNotFoundError: there is no such file (exit code 127).
        NotExecutableError: it is a directory, or not to be executed or read by this user (126).
    """
    if not word:
        raise ProgramNotFoundError("the command's first word is empty")
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    places = [Path(word)] if "/" in word else [Path(folder or ".") / word for folder in folders]
    existing = [place for place in places if place.is_file()]
    if not existing:
        if "/" in word and Path(word).is_dir():
            raise NotExecutableError(f"`{word}` is a directory")
        where = "" if "/" in word else ": it is in no folder of PATH"
        raise ProgramNotFoundError(f"`{word}` is not found{where}")
    chosen = next((place for place in existing if os.access(place, os.X_OK)), None)
    if chosen is None:
        hint = f"chmod +x {existing[0]}, or put its interpreter in front"
        raise NotExecutableError(f"`{existing[0]}` is not executable", hint=hint)
    try:
        with chosen.open("rb") as file:
            return Program(Path(os.path.abspath(chosen)), file.read(_HEAD))  # noqa: PTH100 - links are kept
    except PermissionError:
        # Executable and not readable: the kernel starts it, and nothing is known about it.
        return Program(Path(os.path.abspath(chosen)), b"")  # noqa: PTH100
