"""Python programs that know nothing of maps, each with another client library."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.exec.conftest import COUNT, PROGRAMS, VALUES, Exec, bootstrap

from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration

LIBRARIES = ["kafka_python", "aiokafka", "confluent_kafka"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_program_reads_and_writes_unchanged(
    exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, library: str
) -> None:
    run = exec_in(loopback_world)
    program = ["python3", str(PROGRAMS / f"with_{library}.py"), bootstrap(loopback_world), orders, str(COUNT + 3)]

    failed = run.bare(program)
    assert failed.returncode != 0, failed.stdout

    done = run.run(program)
    assert done.returncode == 0, done.stderr[-3000:]
    written = f"from {library.replace('_', '-')}"
    assert Counter(done.stdout.splitlines()) == Counter([*VALUES, *[written] * 3]), "and nothing else on stdout"
    assert "[brokernat] " in done.stderr


def test_a_shell_script_hands_it_on(
    exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, tmp_path: Path
) -> None:
    script = tmp_path / "nightly"
    program = PROGRAMS / "with_kafka_python.py"
    script.write_text(
        f"#!/bin/sh\nset -e\npython3 {program} {bootstrap(loopback_world)} {orders} {COUNT + 3} | tail -n 2\n"
    )
    script.chmod(0o755)
    done = exec_in(loopback_world).run([str(script)])
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(done.stdout.splitlines()) == 2
