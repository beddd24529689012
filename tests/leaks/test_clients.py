"""Nothing of the upstream reaches a client: a slice in `make test`, any client with any broker in `make soak`.

`python -m tests.leaks.matrix` runs all of them and writes docs/reference/proxy-clients.md.
"""

from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import Soak
from tests.leaks.families import all_families, gate_families
from tests.leaks.matrix import BROKERS
from tests.leaks.recorder import recording
from tests.leaks.runs import Run, proxied_cluster, run_all
from tests.leaks.scan import scanned
from tests.leaks.upstream import Upstream
from tests.matrix.programs import Programs

from brokernat.address import Endpoint
from brokernat.testbed.kafka import Connection, metadata_of
from brokernat.testbed.place import Here

pytestmark = pytest.mark.integration

PRODUCE, FETCH, FIND_COORDINATOR = 0, 1, 10


def test_one_client_of_each_kind(programs: Programs, tmp_path: Path) -> None:
    """While a coordinator dies, a broker restarts and leaders move. Without the proxy the scan finds the upstream."""
    with proxied_cluster(BROKERS[-1], tmp_path) as it:
        assert _leaks_without_the_proxy(it.upstream) >= {
            f"host {end.host}" for end in it.upstream.hq.advertised.values()
        }
        runs = run_all(it, gate_families(programs))
    for name, run in runs.items():
        _assert_clean(name, run)
        assert run.scan.newest(PRODUCE) == 9
        assert run.scan.newest(FETCH) in range(4, 16)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_any_client_with_any_broker(soak: Soak, programs: Programs, tmp_path: Path) -> None:
    """Three libraries of one version of brokers in a round."""
    families = all_families(programs)
    chosen = list(itertools.product(BROKERS, [families[start::3] for start in range(3)]))
    soak.random("leaks").shuffle(chosen)
    for (version, some), number in zip(chosen, soak.rounds(), strict=False):
        folder = tmp_path / str(number)
        folder.mkdir()
        with proxied_cluster(version, folder) as it:
            for name, run in run_all(it, some).items():
                _assert_clean(f"{name} with brokers {version}", run)


def _assert_clean(name: str, run: Run) -> None:
    assert not run.faults, f"{name}: " + "\n".join(run.faults)
    # Of the kinds of answers that hold addresses it got some: what was not asked for proves nothing.
    assert run.scan.newest(FIND_COORDINATOR) is not None
    assert run.scan.by_chance < 0.05, run.scan.bytes_received


def _leaks_without_the_proxy(upstream: Upstream) -> set[str]:
    """What the scan finds in one answer of a broker to a client that dials it."""
    bound = upstream.hq.bound[1]
    with recording(upstream.advertised_host, bound.host, [bound.port]) as recorder:
        with closing(Connection(Here().dial(Endpoint(upstream.advertised_host, bound.port)))) as connection:
            metadata_of(connection, [])
        found = {hit.needle for hit in scanned(recorder.take(), upstream.needles).leaks}
    assert found
    return found
