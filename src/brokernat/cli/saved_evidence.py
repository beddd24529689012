"""Evidence as a file: what `doctor --save` writes, and every command that takes `--from` reads.

It comes from somebody else, who may have looked into it, or cut it, or made it with another version; what is not read
is said with its place in the file. A size that no evidence has is refused before it is in the memory.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from brokernat.cli import console
from brokernat.cli.whole_file import write_whole
from brokernat.doctor.evidence import Evidence
from brokernat.errors import ConfigError, Problem

EVIDENCE_BEGINS = re.compile(rb'\s*\{\s*"taken_at"')
"""By this a file is known that `--save` may write over."""
_LARGEST = 1 << 28


def read_evidence(file: Path) -> Evidence:
    """What was kept.

    Raises:
        ConfigError: the file cannot be read, or holds no evidence.
    """
    from brokernat.doctor.evidence import from_json

    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ConfigError(Problem("file-unreadable", f"`{file}` is larger than evidence ever is"))
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(Problem("file-unreadable", f"`{file}` cannot be read: {reason}")) from None
    return from_json(text, str(file))


def write_evidence(evidence: Evidence, file: Path) -> None:
    """Keep it.

    Raises:
        ConfigError: the file cannot be written.
    """
    from brokernat.doctor.evidence import to_json

    write_whole(file, to_json(evidence))
    console.note(f"{file}: what was seen; `brokernat doctor --from {shlex.quote(str(file))}` makes this report of it")
