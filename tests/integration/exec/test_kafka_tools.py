"""Kafka's own console tools, started by their scripts."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.exec.conftest import COUNT, KAFKA_BIN, VALUES, Exec, bootstrap

from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Protocol

pytestmark = pytest.mark.integration

CANARY = "canary-\\ 2718 =#"


def tool(name: str, *words: str) -> list[str]:
    return [str(KAFKA_BIN / f"kafka-{name}.sh"), *words]


@pytest.fixture(scope="module")
def guarded() -> Iterator[LoopbackWorld]:
    """One broker with TLS on a name that nobody resolves, and a login."""
    options = ClusterOptions(brokers=1, advertise=Advertise.NAME, protocol=Protocol.SASL_SSL, password=CANARY)
    with LoopbackWorld(hq=options, local=None) as world:
        yield world


def test_producer_and_consumer(
    exec_in: Callable[[LoopbackWorld], Exec],
    loopback_world: LoopbackWorld,
    topic_name: str,
    kafka_environ: dict[str, str],
) -> None:
    loopback_world.hq.create_topic(topic_name)
    run = exec_in(loopback_world)
    to = ("--bootstrap-server", bootstrap(loopback_world), "--topic", topic_name)
    impatient = ("--request-timeout-ms", "3000", "--command-property", "delivery.timeout.ms=6000")
    # The tool's exit code is 0 all the same; what it says is on stderr.
    failed = run.bare(tool("console-producer", *to, *impatient), stdin="lost\n", **kafka_environ)
    assert "TimeoutException" in failed.stderr + failed.stdout
    assert loopback_world.hq.read(topic_name) == []

    done = run.run(
        tool("console-producer", *to, "--compression-codec", "none"), stdin="\n".join(VALUES), **kafka_environ
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted((record.value or b"").decode() for record in loopback_world.hq.read(topic_name)) == VALUES

    until = ("--from-beginning", "--max-messages", str(COUNT), "--timeout-ms", "60000")
    done = run.run(tool("console-consumer", *to, *until), **kafka_environ)
    assert sorted(done.stdout.splitlines()) == VALUES, done.stderr[-3000:]
    assert "kafka tool" in done.stderr


def test_tls_verifies_the_brokers_name_and_the_login_is_nowhere_to_be_seen(
    exec_in: Callable[[LoopbackWorld], Exec], guarded: LoopbackWorld, kafka_environ: dict[str, str], tmp_path: Path
) -> None:
    run = exec_in(guarded)
    # The script stands for kafka-topics; it looks at what everybody on the machine can see, and goes on.
    look = tmp_path / "kafka-topics.sh"
    seen = tmp_path / "seen"
    look.write_text(f'#!/bin/sh\ncat /proc/[0-9]*/cmdline /proc/self/environ > {seen} 2>/dev/null\n'
                    f'exec {KAFKA_BIN}/kafka-topics.sh "$@"\n')  # fmt: skip
    look.chmod(0o755)

    done = run.run([str(look), "--create", "--topic", "made-by-a-tool"], "--with-client-properties", **kafka_environ)

    assert done.returncode == 0, done.stderr[-3000:]
    assert "made-by-a-tool" in done.stdout
    assert guarded.hq.leaders("made-by-a-tool")
    # Verified TLS needs the broker's own name from the first connection on.
    assert str(guarded.hq.advertised[1]) in seen.read_text()
    for text in (done.stdout, done.stderr, seen.read_text()):
        assert CANARY not in text
