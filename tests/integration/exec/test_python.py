"""Python programs that know nothing of maps, each with another client library."""

import importlib.util
import sys
import venv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.exec.conftest import COUNT, PROGRAMS, VALUES, Exec, bootstrap
from tests.integration.python_clients.libraries import LOCK as KAFKA_PYTHON_2_LOCK
from tests.integration.python_clients.libraries import installed

from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration

LIBRARIES = ["kafka_python", "aiokafka", "confluent_kafka"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_program_reads_and_writes_unchanged(
    exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, library: str
) -> None:
    run = exec_in(loopback_world)
    program = [sys.executable, str(PROGRAMS / f"with_{library}.py"), bootstrap(loopback_world), orders, str(COUNT + 3)]

    failed = run.bare([*program, "4"])
    assert failed.returncode != 0, failed.stdout

    done = run.run([*program, "90"])
    assert done.returncode == 0, done.stderr[-3000:]
    written = f"from {library.replace('_', '-')}"
    assert Counter(done.stdout.splitlines()) == Counter([*VALUES, *[written] * 3]), "and nothing else on stdout"
    assert "[brokernat] " in done.stderr


@pytest.mark.parametrize(
    ("way", "before"),
    [
        ("kafka_client", installed(KAFKA_PYTHON_2_LOCK)),
        ("broker_connection", installed(KAFKA_PYTHON_2_LOCK)),
        ("kafka_net_client", None),
        ("kafka_client_argument", None),
        ("aiokafka_client", None),
        ("aiokafka_connection", None),
        ("confluent_admin", None),
        ("confluent_aio", None),
    ],
)
def test_a_program_that_connects_past_the_usual_classes_has_the_map(
    exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, way: str, before: Path | None
) -> None:
    """Every broker advertises what cannot be dialled, so each connection shows that the map was asked."""
    advertised = loopback_world.hq.advertised.values()
    program = [sys.executable, str(PROGRAMS / "other_ways.py"), way, bootstrap(loopback_world)]
    environ = {"PYTHONPATH": str(before)} if before else {}
    done = exec_in(loopback_world).run([*program, ",".join(map(str, advertised)), orders], **environ)
    assert done.stdout == f"reached {len(advertised)}\n", done.stderr[-3000:]


def test_a_shell_script_hands_it_on_to_an_interpreter_without_our_dependencies(
    exec_in: Callable[[LoopbackWorld], Exec], loopback_world: LoopbackWorld, orders: str, tmp_path: Path
) -> None:
    venv.create(tmp_path / "other", with_pip=False, symlinks=True)
    (tmp_path / "lib").mkdir()
    library = importlib.util.find_spec("kafka")
    assert library is not None
    assert library.origin is not None
    (tmp_path / "lib" / "kafka").symlink_to(Path(library.origin).parent)
    # Theirs, imported at the start of every Python; it must not be lost behind ours.
    (tmp_path / "lib" / "sitecustomize.py").write_text("import sys; sys.site_was_here = True\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nassert sys.site_was_here\n"
        + (PROGRAMS / "with_kafka_python.py").read_text()
        + "try:\n    import pydantic\nexcept ImportError:\n    print('no pydantic')\n"
    )
    script = tmp_path / "nightly"
    script.write_text(f'#!/bin/sh\n{tmp_path}/other/bin/python {program} "$@" | tail -n 2\n')
    script.chmod(0o755)
    arguments = [str(script), bootstrap(loopback_world), orders, str(COUNT + 3), "90"]
    done = exec_in(loopback_world).run(arguments, PYTHONPATH=str(tmp_path / "lib"))
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr[-3000:]
    assert lines[1] == "no pydantic"
