"""Whose numbers a spool gives, and from which on: no number of a source is ever given twice.

A kill takes no committed transaction away. A power cut may, where commits are not on the disk before they count
(`durable`), and the numbers that it undoes may have been sent already. It leaves two signs: the machine has another
boot id, and the spool was not closed. Then the numbering starts anew under a new source.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Numbering(NamedTuple):
    """What the next record of a spool gets."""

    source: str
    next: int


def numbering(meta: Mapping[str, Any], boot: str) -> Numbering:
    """How a spool goes on.

    Args:
        meta: what its last holder wrote down; empty for a new one.
        boot: this start of the machine.
    """
    sure = meta.get("closed", 1) or meta.get("durable", 0) or meta.get("boot") == boot
    if "source" in meta and sure:
        return Numbering(meta["source"], meta["next"])
    return new_numbering()


def new_numbering() -> Numbering:
    """From 1, under a source that no spool had before."""
    return Numbering(f"{socket.gethostname()}.{uuid.uuid4().hex[:16]}", 1)


def boot_id() -> str:
    """This start of the machine. Where it cannot be told, every start of a spool that was not closed is a new one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return uuid.uuid4().hex
