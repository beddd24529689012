"""Evidence as a file: what `doctor --save` writes, and every command that takes `--from` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.cli import console
from brokernat.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.doctor.evidence import Evidence


def read_evidence(file: Path) -> Evidence:
    """What was kept.

    Raises:
        ConfigError: the file cannot be read, or holds no evidence.
    """
    from brokernat.doctor.evidence import from_json

    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError([Problem("file-unreadable", f"`{file}` cannot be read: {reason}")]) from None
    return from_json(text, str(file))


def write_evidence(evidence: Evidence, file: Path) -> None:
    """Keep it.

    Raises:
        ConfigError: the file cannot be written.
    """
    from brokernat.doctor.evidence import to_json

    try:
        file.write_text(to_json(evidence), "utf-8")
    except OSError as error:
        message = f"`{file}` cannot be written: {error.strerror}"
        raise ConfigError([Problem("file-unwritable", message)]) from None
    console.note(f"{file}: what was seen; `brokernat doctor --from {file}` makes this report of it")
