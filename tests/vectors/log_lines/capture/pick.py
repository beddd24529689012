"""From captured output to vectors: `.venv/bin/python -m tests.vectors.log_lines.capture.pick WORK`.

For each row of the table and each client the first line of each wording, with how it was provoked; lines are taken as
they were written. What healthy clients logged goes into `healthy/`, one file a client.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from brokernat.doctor.explaining.recognising import recognise

VECTORS = Path(__file__).parents[1]
_MOST, _LONGEST, _HEALTHY = 6, 700, 60


def main(work: Path) -> None:
    chosen: dict[str, list[dict[str, Any]]] = defaultdict(list)
    wordings: set[tuple[str, str]] = set()
    per_row: dict[str, int] = defaultdict(int)
    healthy: dict[str, dict[str, str]] = defaultdict(dict)
    for record in _records(work):
        line, version = record["text"].rstrip(), record["version"]
        if record["situation"] == "healthy":
            healthy[f"{record['client']}-{version}"].setdefault(_wording(line), line)
            continue
        found = recognise(line) if len(line) < _LONGEST else None
        if found is None:
            continue
        row = found.symptom.key
        wording = f"{record['client']} {version.split('.')[0]} {_wording(line)}"
        if (row, wording) in wordings or per_row[row] >= _MOST:
            continue
        wordings.add((row, wording))
        per_row[row] += 1
        chosen[found.symptom.family.name.lower()].append(
            {"row": row, "client": f"{record['client']} {version}", "how": record["how"], "line": line}
        )
    for family, rows in chosen.items():
        rows.sort(key=lambda each: each["row"])
        (VECTORS / f"{family}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    for client, lines in healthy.items():
        text = "".join(f"{line}\n" for line in list(lines.values())[:_HEALTHY] if line.strip())
        (VECTORS / "healthy" / f"{client}.log").write_text(text)


def _records(work: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for file in sorted(work.glob("*.jsonl")) for text in file.read_text().splitlines()]


def _wording(line: str) -> str:
    """A line without what differs each time."""
    return re.sub(r"[0-9a-f-]{20,}|\d+", "#", line)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
