"""Gateways of both families in one file. The worlds are IPv4, so here a socket that says who it is plays the broker."""

import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.netns.rendered import haproxy_command, nginx_command, serving

from brokernat.address import AddressMap, Endpoint
from brokernat.render import Subject, haproxy, nginx
from brokernat.testbed.namespaces import Namespace
from brokernat.testbed.place import connects

pytestmark = pytest.mark.netns

MAP = AddressMap.parse("[::1]:9092 = [::1]:9093, 127.0.0.1:9092 = 127.0.0.1:9094")
BROKERS = """\
import contextlib, select, socket
listeners = [socket.create_server(("::1", 9092), family=socket.AF_INET6), socket.create_server(("127.0.0.1", 9092))]
while True:
    for listener in select.select(listeners, [], [])[0]:
        # A gateway may have reset the connection of somebody who only looked whether it answers.
        with listener.accept()[0] as accepted, contextlib.suppress(OSError):
            accepted.sendall(accepted.getsockname()[0].encode())
"""
GATEWAYS = {"nginx": (nginx, nginx_command), "haproxy": (haproxy, haproxy_command)}


@pytest.fixture
def host() -> Iterator[Namespace]:
    place = Namespace(f"render-{uuid.uuid4().hex[:8]}")
    place.create()
    try:
        yield place
    finally:
        subprocess.run(["ip", "netns", "delete", place.name], check=True)
        shutil.rmtree(Path("/etc/netns", place.name))


@pytest.mark.parametrize("name", GATEWAYS)
def test_each_port_leads_to_its_broker(name: str, host: Namespace, tmp_path: Path) -> None:
    render, command = GATEWAYS[name]
    file = tmp_path / name
    file.write_text(render(Subject("hq", (), MAP)))
    brokers = [Endpoint("::1", 9092), Endpoint("127.0.0.1", 9092)]
    gateway = [MAP.translate(broker).endpoint for broker in brokers]
    with (
        serving([sys.executable, "-c", BROKERS], host, _all_connect(host, brokers), tmp_path / "brokers.log"),
        serving(command(file), host, _all_connect(host, gateway), tmp_path / "gateway.log"),
    ):
        for broker, port in zip(brokers, gateway, strict=True):
            with host.dial(port) as connection:
                assert connection.recv(100).decode() == broker.host


def _all_connect(host: Namespace, endpoints: list[Endpoint]) -> Callable[[], bool]:
    return lambda: all(connects(endpoint, host) for endpoint in endpoints)
