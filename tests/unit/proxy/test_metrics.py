"""Numbers that workers share, and how Prometheus gets them."""

from __future__ import annotations

import os
import socket
from contextlib import closing

import pytest

from brokernat.address import Endpoint
from brokernat.errors import ConfigError
from brokernat.proxy.metrics import SERIES, Counters, _response, metrics_socket


def test_workers_add_up_and_a_new_one_begins_without_connections() -> None:
    counters = Counters(2)
    pid = os.fork()
    if not pid:
        counters.row(1)
        counters.add("connections", 3)
        counters.add("received", 1 << 40)
        counters.add("nodes", 2)
        os._exit(0)
    os.waitpid(pid, 0)
    counters.row(0)
    counters.add("connections")
    counters.add("received", 5)
    counters.add("nodes", 2)
    assert [counters.total(name) for name in ("connections", "received", "nodes")] == [4, (1 << 40) + 5, 2]
    counters.row(1)
    assert [counters.total(name) for name in ("connections", "received")] == [1, (1 << 40) + 5]


def test_the_text_has_help_type_and_value_of_every_series() -> None:
    counters = Counters()
    counters.add("sent", 7)
    lines = counters.text().splitlines()
    assert len(lines) == 3 * len(SERIES)
    assert "# HELP brokernat_proxy_sent_bytes_total Bytes from brokers." in lines
    assert "# TYPE brokernat_proxy_sent_bytes_total counter" in lines
    assert "brokernat_proxy_sent_bytes_total 7" in lines


def test_only_metrics_are_served() -> None:
    counters = Counters()
    assert _response(b"GET /metrics HTTP/1.1\r\n\r\n", counters).startswith(b"HTTP/1.1 200 OK\r\n")
    assert _response(b"GET / HTTP/1.1\r\n\r\n", counters).startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert _response(b"\r\n\r\n", counters).startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_a_port_in_use_is_named() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        endpoint = Endpoint("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(ConfigError) as error:
            metrics_socket(endpoint)
    assert error.value.message == f"the metrics page cannot listen on {endpoint}: Address already in use"
    assert error.value.hint == "choose another address or port: `--metrics HOST:PORT`"


def test_a_name_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match=r"the metrics page cannot listen on nosuch\.invalid:9: .*[Nn]ame"):
        metrics_socket(Endpoint("nosuch.invalid", 9))
