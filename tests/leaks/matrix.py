"""Every client with every version of brokers: `python -m tests.leaks.matrix` writes docs/reference/proxy-clients.md.

With versions as arguments only their columns are made anew, with `--clients kafkajs` only the rows that begin so. Ends
with 1 when a client received an upstream address or did not do its work.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.leaks.families import all_families
from tests.leaks.runs import Run, proxied_cluster, run_all
from tests.matrix.programs import Programs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "proxy-clients.md"
BROKERS = ("2.4.1", "3.9.2", "4.4.0")
_CARRIERS = {0: "Produce", 1: "Fetch", 3: "Metadata", 10: "FindCoordinator", 60: "DescribeCluster"}
_HEAD = """\
# Clients through the proxy

Made by `make leak-matrix`. Each client plays its roles through `brokernat proxy`, then produces and reads in a group
while the group's coordinator is killed, a broker restarts and leaders move. A recorder between proxy and client keeps
every byte that the client receives, and the whole of it is searched for the brokers' hosts and ports: as text, as
address bytes, and as big-endian numbers.

A cell has the leaks found, the bytes and connections searched, and the newest versions of the answers that can hold an
address. The host names of these brokers occur nowhere else; an address or a port of four bytes would be hit by chance
once in {chance:,.0f} MB of random bytes. DescribeConfigs is listed apart, because it returns the text of a broker's own
settings.

"""
_FOOT = """
Roles: admin (cluster, topics, groups), producer, idempotent and transactional producer, group; with brokers from 4.0 on
also the groups of KIP-848, where the library has them (kafka-clients from 4.0 on, librdkafka).

kafkajs 2.2.4 reports a `send` to several partitions as done although it dropped a partition whose leader moved to a
broker that had already answered (`brokersWithoutResponse` in its `sendMessages.js`). So its program here sends to one
partition at a time, and yours should.
"""


def main(arguments: Sequence[str]) -> int:
    """Run all and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.leaks.matrix")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="of brokers; default all")
    parser.add_argument("--clients", nargs="+", default=[""], metavar="NAME", help="how their names begin; default all")
    wanted = parser.parse_args(arguments)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="brokernat-leaks-") as directory:
        programs = Programs.compile(_made(Path(directory, "programs")))
        families = [each for each in all_families(programs) if each.name.startswith(tuple(wanted.clients))]
        for version in wanted.versions or BROKERS:
            with proxied_cluster(version, _made(Path(directory, version))) as it:
                runs = run_all(it, families)
                cells = columns(PAGE.read_text()) if PAGE.exists() else {}
                for name, run in runs.items():
                    cells.setdefault(name, {})[version] = cell(run)
                    faults += len(run.faults)
                    sys.stderr.write(f"{name} with brokers {version}: {'; '.join(run.faults) or 'clean'}\n")
                PAGE.write_text(page(cells, 1 / it.upstream.needles.by_chance(1)))
    return 1 if faults else 0


def page(cells: Mapping[str, Mapping[str, str]], size: float) -> str:
    """The page as Markdown, clients in rows and brokers in columns; `size` random bytes have one hit by chance."""
    head = ("client", *(f"brokers {version}" for version in BROKERS))
    rows = [head, ["---"] * len(head)]
    rows += [(name, *(row.get(version, "not run") for version in BROKERS)) for name, row in cells.items()]
    return _HEAD.format(chance=size / 1e6) + "".join(f"| {' | '.join(row)} |\n" for row in rows) + _FOOT


def columns(text: str) -> dict[str, dict[str, str]]:
    """The cells of a page by client and version of brokers."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")][2:]
    return {name: dict(zip(BROKERS, cells, strict=False)) for name, *cells in rows}


def cell(run: Run) -> str:
    """What became of a client."""
    scan = run.scan
    versions = ", ".join(
        f"{name} {scan.newest(key)}" for key, name in _CARRIERS.items() if scan.newest(key) is not None
    )
    searched = f"{scan.bytes_received / 1e6:.1f} MB, {scan.connections} connections"
    parts = [f"**{len(scan.leaks)}** in {searched}", versions, *_failed(run)]
    if scan.settings:
        parts.append(f"DescribeConfigs: {len(scan.settings)}")
    return "; ".join(parts)


def _failed(run: Run) -> Iterable[str]:
    return (f"{role}: {fault.splitlines()[0][:120]}" for role, fault in run.outcome.items() if fault != "ok")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
