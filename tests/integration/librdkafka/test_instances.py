"""Client instances come and go: the pool of trampolines, copies of configurations, callbacks of the application.

No broker is needed: what a client dials is told by its log, and nothing listens there.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integration.librdkafka.rdkafka import Conf, lib, producer
from tests.vectors.map_texts import ROWS, prepared

from brokernat.clients.librdkafka import plugin_library

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
POOL = 1024
_PATIENCE = 60


def mapped(rules: str, *, quiet: bool = False) -> Conf:
    conf = Conf({"plugin.library.paths": str(plugin_library()), "brokernat.map": rules})
    conf.set("bootstrap.servers", "kafka-1:9092")
    if quiet:
        conf.set("log_level", "0")
    else:
        conf.keep_log()
    return conf


def wait_for(conf: Conf, client: int, words: str) -> str:
    """The first line of the log that holds these words."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for line in conf.lines:
            if words in line:
                return line
        lib.rd_kafka_poll(client, 20)
    pytest.fail(f"`{words}` was not said in\n" + "\n".join(conf.lines))


def test_a_thousand_clients_one_after_the_other_and_from_several_threads() -> None:
    """More than the pool holds, so places come back."""

    def make_and_close(count: int) -> None:
        for _ in range(count):
            with producer(mapped("kafka-1 = 127.0.0.1", quiet=True)):
                pass

    threads = [threading.Thread(target=make_and_close, args=(POOL // 2,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    conf = mapped("kafka-1 = 127.0.0.1")
    with producer(conf) as client:
        wait_for(conf, client, "127.0.0.1:9092 failed: Connection refused")


def test_a_bootstrap_server_on_a_link_is_dialled_with_its_zone() -> None:
    """The zone (`%1`) is about this machine, so it is no part of what the map compares."""
    conf = mapped("kafka-1 = 127.0.0.1")
    conf.set("bootstrap.servers", "[::1%1]:1")
    with producer(conf) as client:
        wait_for(conf, client, "Connect to ipv6#[::1%1]:1 failed: Connection refused")
    conf = mapped("[::1]:1 = 127.0.0.1:2")
    conf.set("bootstrap.servers", "[::1%1]:1")
    with producer(conf) as client:
        wait_for(conf, client, "Connect to ipv4#127.0.0.1:2 failed: Connection refused")


def test_a_bootstrap_server_without_a_port_has_librdkafkas_own_and_is_never_refused() -> None:
    conf = mapped("kafka-1 = 127.0.0.1")
    conf.set("bootstrap.servers", "127.98.76.54")
    with producer(conf) as client:
        wait_for(conf, client, "127.98.76.54:9092 failed: Connection refused")


def test_a_full_pool_refuses_in_words_until_a_client_is_closed() -> None:
    clients = [mapped("kafka-1 = 127.0.0.1", quiet=True).start() for _ in range(POOL)]
    try:
        conf = mapped("kafka-1 = 127.0.0.1")
        with producer(conf) as client:
            assert f"{POOL} clients with a brokernat.map are open in this process" in wait_for(conf, client, "refused")
            wait_for(conf, client, "Failed to resolve 'kafka-1:9092': Too many users")
            copy = Conf.copy_of_running(client)
        without = Conf({"plugin.library.paths": str(plugin_library()), "bootstrap.servers": "127.0.0.1:1"})
        without.keep_log()
        with producer(without) as client:
            wait_for(without, client, "127.0.0.1:1 failed: Connection refused")
        lib.rd_kafka_destroy(clients.pop())
        copy.keep_log()
        for conf in (mapped("kafka-1 = 127.0.0.1"), copy):
            with producer(conf) as client:
                wait_for(conf, client, "127.0.0.1:9092 failed: Connection refused")
    finally:
        for client in clients:
            lib.rd_kafka_destroy(client)


def test_a_copied_configuration_keeps_its_map_and_reads_no_file_again(tmp_path: Path) -> None:
    rules = tmp_path / "hq.rules"
    rules.write_text("# headquarters\nkafka-1:9092 = 127.0.0.1:9\n")
    first = mapped(f"file:{rules}")
    rules.unlink()
    copies = [first.copy(), first.copy()]
    first.destroy()
    for copy in copies:
        copy.keep_log()
    with producer(copies[0]) as one, producer(copies[1]) as other:
        wait_for(copies[0], one, "127.0.0.1:9 failed: Connection refused")
        wait_for(copies[1], other, "127.0.0.1:9 failed: Connection refused")


def test_a_copy_of_a_running_clients_configuration_has_a_map_of_its_own() -> None:
    """librdkafka copies the resolver that was set for the running client, too."""
    first = mapped("kafka-1:9092 = 127.0.0.1:9, 127.0.0.1:10 = 127.0.0.1:11")
    with producer(first) as running:
        other, without = Conf.copy_of_running(running), Conf.copy_of_running(running)
    for copy, rules, line in (
        (other, "kafka-1:9092 = 127.0.0.1:10", "127.0.0.1:10 failed: Connection refused"),
        (without, "", "Failed to resolve 'kafka-1:9092'"),
    ):
        copy.keep_log()
        copy.set("brokernat.map", rules)
        with producer(copy) as client:
            wait_for(copy, client, line)


def test_two_clients_with_different_maps_dial_different_places() -> None:
    one, other = mapped("kafka-1:9092 = 127.0.0.1:9"), mapped("kafka-1:9092 = [::1]:10")
    with producer(one) as first, producer(other) as second:
        wait_for(one, first, "127.0.0.1:9 failed")
        wait_for(other, second, "[::1]:10 failed")
    assert not [line for line in one.lines if "[::1]" in line]
    assert not [line for line in other.lines if "127.0.0.1" in line]


def test_the_applications_own_resolver_and_opaque_stay() -> None:
    """It is asked for the reachable endpoint, with its own opaque, and answers by an error that the client reports."""
    asked: list[tuple[str, str, int]] = []

    def resolve(node: bytes | None, service: bytes | None, _hints: int, _addresses: object, opaque: int) -> int:
        if node is not None and service is not None:
            asked.append((node.decode(), service.decode(), opaque))
        return -8  # EAI_SERVICE

    conf = mapped("kafka-1:9092 = gateway:9093")
    conf.resolve_with(resolve)
    mark = ctypes.c_int(7)
    lib.rd_kafka_conf_set_opaque(conf.pointer, ctypes.addressof(mark))
    with producer(conf) as client:
        wait_for(conf, client, "Failed to resolve 'kafka-1:9092': Servname not supported")
        assert lib.rd_kafka_opaque(client) == ctypes.addressof(mark)
    assert set(asked) == {("gateway", "9093", ctypes.addressof(mark))}


def test_without_a_map_nothing_is_touched() -> None:
    """Not even the resolver: an empty map opts out of one that came from elsewhere."""
    for conf in (mapped(""), mapped(" \n")):
        conf.set("bootstrap.servers", "127.0.0.1:1")
        with producer(conf) as client:
            wait_for(conf, client, "127.0.0.1:1 failed: Connection refused")
        assert "BROKERNAT" not in " ".join(conf.lines)


def test_a_wrong_map_is_an_error_and_nothing_is_dialled_by_who_ignores_it() -> None:
    conf = mapped("kafka-1 = 127.0.0.1")
    with pytest.raises(ValueError, match=r"brokernat\.map: line 1, column 1, rule `kafka-1`: there is no `=`; write"):
        conf.set("brokernat.map", "kafka-1")
    with pytest.raises(ValueError, match=r"brokernat\.map: line 1"):
        conf.set("brokernat.map", "kafka-1")
    with pytest.raises(ValueError, match=r"brokernat\.unmapped is `fail` or `pass`, not `maybe`"):
        conf.set("brokernat.unmapped", "maybe")
    with producer(conf) as client:
        wait_for(conf, client, "refused: the address map of this client cannot be used: line 1, column 1, rule")
        wait_for(conf, client, "Failed to resolve 'kafka-1:9092': Destination address required")


def test_a_copy_refuses_as_its_original_does_after_a_wrong_choice_that_was_ignored() -> None:
    """librdkafka sets again only the properties that were accepted."""
    first = mapped("kafka-1 = 127.0.0.1")
    with pytest.raises(ValueError, match="not `maybe`"):
        first.set("brokernat.unmapped", "maybe")
    copy = first.copy()
    first.destroy()
    copy.keep_log()
    with producer(copy) as client:
        wait_for(copy, client, "refused: the address map of this client cannot be used: brokernat.unmapped is")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_texts_of_a_map(row: dict[str, Any], tmp_path: Path) -> None:
    """A text that is wrong is an error with the reason, and who goes on in spite of it dials nothing."""
    text = prepared(row, tmp_path)
    conf = mapped("")
    try:
        conf.set("brokernat.map", text.map)
        conf.set("brokernat.unmapped", text.unmapped or "fail")
    except ValueError as error:
        told = str(error)
    else:
        assert text.reason is None, "it was taken"
        return conf.destroy()
    text.assert_told(told)
    with producer(conf) as client:
        text.assert_told(wait_for(conf, client, "refused: the address map of this client cannot be used: "))
        wait_for(conf, client, "Failed to resolve 'kafka-1:9092': Destination address required")
    return None


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (
            "clusters:\n  hq:\n    address_map:\n      - a:1 = b:1\n",
            "looks like YAML, but a rules file has one rule a line",
        ),
        ("a:1 = b:1\nc = d:1\n", "line 2, column 1, rule `c = d:1`: only the reachable side has a port"),
    ],
)
def test_a_wrong_file_of_rules(tmp_path: Path, rules: str, words: str) -> None:
    file = tmp_path / "hq.rules"
    file.write_text(rules)
    with pytest.raises(ValueError, match=f"{re.escape(str(file))}.*{re.escape(words)}"):
        mapped(f"file:{file}")


def test_an_endless_file_is_no_file_of_rules() -> None:
    with pytest.raises(ValueError, match="`/dev/zero` cannot be read: File too large"):
        mapped("file:/dev/zero")


SLOW_RESOLVER = """
import ctypes, sys, threading
from tests.integration.librdkafka.rdkafka import Conf, lib

libc, asked, go_on, freed = ctypes.CDLL(None), threading.Event(), threading.Event(), []

def resolve(node, service, hints, addresses, opaque):
    if node is None:
        freed.append(True)
        libc.freeaddrinfo(ctypes.c_void_p(addresses[0]))
        return 0
    asked.set()
    go_on.wait()
    return libc.getaddrinfo(b"127.0.0.1", b"9", None, addresses)

conf = Conf({"plugin.library.paths": sys.argv[1], "brokernat.map": "kafka-1 = slow"})
conf.set("bootstrap.servers", "kafka-1:9092")
conf.resolve_with(resolve)
client = conf.start()
asked.wait()
# Long after librdkafka has called on_destroy, which it does before it waits for its threads.
threading.Timer(0.5, go_on.set).start()
lib.rd_kafka_destroy(client)
print("closed", freed)
"""


def test_a_client_is_closed_while_a_name_is_looked_up() -> None:
    """The look-up ends, and its addresses are freed, through a place that must not have been given away meanwhile."""
    command = [sys.executable, "-c", SLOW_RESOLVER, str(plugin_library())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "closed [True]\n"), done.stderr[-3000:]
