"""What `proxy` refuses before it listens, and its help."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]


@pytest.fixture
def taken() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--cluster hq --tls-cert chain.pem",
        "--cluster hq --listen nowhere",
        "--cluster hq --max-frame much",
        "--cluster hq --max-frame 5",
        "--cluster hq --listen 65535",
        "--cluster hq --listen 127.0.0.1:65535",
        "--cluster local --login",
        "--cluster hq --tls-cert chain.pem --tls-key key.pem",
        "--cluster hq --metrics 192.0.2.1:9404",
        "--cluster hq --listen 192.0.2.1:9092",
    ],
)
def test_what_is_refused(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("proxy", *line.split()) == snapshot


def test_a_login_that_it_cannot_do(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    file = folder / "brokernat.yaml"
    lines = [line for line in file.read_text().splitlines() if "sasl." not in line]
    file.write_text("\n".join(lines).replace("SASL_PLAINTEXT", "SASL_PLAINTEXT\n      sasl.mechanism: GSSAPI"))
    assert run("proxy", "--cluster", "hq", "--login") == snapshot


@pytest.mark.parametrize("option", ["--listen", "--metrics"])
def test_a_port_alone_is_one_of_this_machine(run: Run, taken: str, option: str) -> None:
    shown = run("proxy", "--cluster", "hq", "--listen", "127.0.0.1:19092", option, taken.rpartition(":")[2])
    assert shown.startswith("exit 2")
    assert f"cannot listen on {taken}: Address already in use" in shown


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_in_use(run: Run, taken: str, workers: str) -> None:
    shown = run("proxy", "--cluster", "hq", "--listen", taken, "--workers", workers)
    assert shown.startswith("exit 2")
    assert f"error: the proxy cannot listen on {taken}: Address already in use\n\nhint: choose another address" in shown


def test_a_cluster_with_a_template(run: Run, folder: Path, taken: str) -> None:
    """Only the proxy takes it; the clients of the cluster are refused."""
    rule = '    address_map: ["*.x:9092 = gw:{9092+id}"]'
    (folder / "brokernat.yaml").write_text(f"clusters:\n  hq:\n    bootstrap_servers: gw:9092\n{rule}\n")
    assert "the proxy cannot listen on" in run("proxy", "--cluster", "hq", "--listen", taken)
    assert "needs the node id" in run("exec", "--cluster", "hq", "--", "true")
