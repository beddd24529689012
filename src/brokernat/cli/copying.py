"""Copies of what the package carries, for people who wire their own program."""

from __future__ import annotations

import shutil
from pathlib import Path

from brokernat.errors import ConfigError, Problem


def copy_into(folder: Path, file: Path) -> Path:
    """Through a temporary name, so that a program that starts meanwhile sees the old file or the new one.

    Raises:
        ConfigError: of kind `file-unwritable`.
    """
    target = folder / file.name
    partial = target.with_name(f"{file.name}.partial")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, partial)
        partial.replace(target)
    except OSError as error:
        raise ConfigError(Problem("file-unwritable", f"`{target}` cannot be written: {error.strerror}")) from None
    return target
