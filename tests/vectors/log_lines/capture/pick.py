"""From captured output to vectors: `.venv/bin/python -m tests.vectors.log_lines.capture.pick WORK`.

For each row of the table the first line of each wording, with how it was provoked, and one at least of each client and
major version; lines are taken as they were written, and what is there stays. What healthy clients logged goes into
`healthy/`, one file a client.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from brokernat.doctor.explain.known_lines import Role
from brokernat.doctor.explain.matching import match_line

VECTORS = Path(__file__).parents[1]
_MOST, _LONGEST, _HEALTHY = 5, 900, 60
_FAILED = re.compile(r" (?:WARN|ERROR) .*clientId=|due to request timeout|Exception")
_ROLE = re.compile(r"healthy-(?:admin|producer|consumer|transactional)")
# Where things lie on the machine that captured them.
_PATHS = re.compile(r"/(?:work|tmp|root|home)/")


def main(work: Path) -> None:
    chosen: dict[str, list[dict[str, Any]]] = defaultdict(list)
    wordings: set[tuple[str, str]] = set()
    spoken: set[tuple[str, str]] = set()
    per_row: dict[tuple[str, Role], int] = defaultdict(int)
    healthy: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for record in (*_there(), *_records(work)):
        line, version = record["text"].rstrip(), record["version"]
        if record["situation"] == "healthy":
            role = _ROLE.search(line)
            healthy[f"{record['client']}-{version}"].setdefault(role[0] if role else "", {})[_wording(line)] = line
            continue
        found = match_line(line) if len(line) < _LONGEST and not _PATHS.search(line) else None
        if found is None:
            continue
        row = found.known.key
        client = f"{record['client']} {version.split('.')[0]}"
        wording = f"{client} {_wording(line)}"
        enough = per_row[row, found.peer.role] >= _MOST and (row, client) in spoken
        if (row, wording) in wordings or enough:
            continue
        wordings.add((row, wording))
        spoken.add((row, client))
        per_row[row, found.peer.role] += 1
        chosen[re.sub(r"\W", "_", found.known.client.lower())].append(
            {"row": row, "client": f"{record['client']} {version}", "how": record["how"], "line": line}
        )
    for family, rows in chosen.items():
        rows.sort(key=lambda each: each["row"])
        (VECTORS / f"{family}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    for client, roles in healthy.items():
        text = "".join(f"{line}\n" for lines in roles.values() for line in _of_a_success(list(lines.values())))
        if text:
            (VECTORS / "healthy" / f"{client}.log").write_text(text)


def _of_a_success(lines: list[str]) -> list[str]:
    """What one client logged, nothing where it failed: a machine that is too busy makes time-outs of its own."""
    if any(_FAILED.search(line) for line in lines if "INFO" in line or "clientId=" in line):
        return []
    # What is indented belongs to the dump of a configuration or to a stack.
    plain = [line for line in lines if "INFO" in line and not line[0].isspace() and not _PATHS.search(line)]
    return plain[:_HEALTHY]


def _there() -> Iterator[dict[str, Any]]:
    for file in sorted(VECTORS.glob("*.json")):
        for each in json.loads(file.read_text("utf-8")):
            client, _, version = each["client"].rpartition(" ")
            yield {"client": client, "version": version, "situation": "", "how": each["how"], "text": each["line"]}


def _records(work: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(work.glob("*.jsonl")):
        with file.open() as lines:
            yield from map(json.loads, lines)


def _wording(line: str) -> str:
    """A line without what differs each time."""
    return re.sub(r"[0-9a-f-]{20,}|\d+", "#", line)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
