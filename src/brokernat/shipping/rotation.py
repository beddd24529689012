"""Where a rotated file went: looked for beside its old name, as every rotating program leaves it there.

A copy repeats its original up to the place that was read, so it looks like a file with old lines and new ones. It is
one only when the original does not have them any more.
"""

from __future__ import annotations

from pathlib import Path

from brokernat.shipping.position import Position, key_of, repeats


def renamed(place: Position) -> Path | None:
    """The file itself under another name."""
    return next((path for path in _beside(place) if key_of(path) == place.key and repeats(path, place)), None)


def candidates(place: Position) -> list[Path]:
    """Files that may be copies of it, the newest first: named after it."""
    return [path for path in _beside(place) if Path(place.path).name in path.name]


def is_copy(path: Path, place: Position) -> bool:
    """Whether a file repeats one that was read, is named after it, and the original still stands under its name."""
    original = Path(place.path)
    related = path.parent == original.parent and path.name.startswith(original.name)
    return related and place.offset > 0 and key_of(original) == place.key and repeats(path, place)


def _beside(place: Position) -> list[Path]:
    """The newest first."""
    try:
        return sorted(Path(place.path).parent.iterdir(), key=_modified, reverse=True)
    except OSError:
        return []


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        # Gone meanwhile, such as an old copy that the rotating program has removed: the others are there.
        return 0.0
