"""The rows of `map_texts.json` with their files made: texts of a map that must refuse every connection, and some that
are right. Java's test is `MapTextsTest`.

| field | meaning |
|---|---|
| `map`, `unmapped` | as a property or the agent's argument holds them; `{folder}` is the row's own folder |
| `file` | `{folder}/hq.rules`: its `text`, its `hex`, or a `kind`: `folder`, `loop` (a link), `forbidden` (mode 0) |
| `reason` | words that the refusal holds in every language; null: the map is right |
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROWS: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@dataclass(frozen=True)
class MapText:
    map: str
    unmapped: str | None
    reason: list[str] | None

    def assert_told(self, words: str) -> None:
        assert self.reason is not None
        assert [reason for reason in self.reason if reason not in words] == [], words


def prepared(row: dict[str, Any], folder: Path) -> MapText:
    """A row with its file in the folder."""
    path = folder / "hq.rules"
    match row.get("file"):
        case {"text": text}:
            path.write_text(text, "utf-8")
        case {"hex": octets}:
            path.write_bytes(bytes.fromhex(octets))
        case {"kind": "folder"}:
            path.mkdir()
        case {"kind": "loop"}:
            path.symlink_to(path)
        case {"kind": "forbidden"}:
            path.write_text("a:1 = b:1\n")
            path.chmod(0)
            if os.access(path, os.R_OK):
                pytest.skip("root may read every file")
    reason = row["reason"] and [words.replace("{folder}", str(folder)) for words in row["reason"]]
    return MapText(row["map"].replace("{folder}", str(folder)), row.get("unmapped"), reason)
