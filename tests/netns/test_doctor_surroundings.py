"""The doctor among real strangers: an SSH server, an HTTP server, a hosts file that says something else.

What these servers say is their own; the loopback world has servers that say the same from a few lines of Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.netns.rendered import serving

from brokernat.address import Endpoint
from brokernat.testbed import NetnsWorld
from brokernat.testbed.namespaces import Namespace, tool

pytestmark = pytest.mark.netns

ENDS_WITHIN = 120
NAME = "kafka.hq.example"
_SSHD = """\
ListenAddress {host}
Port {port}
HostKey {folder}/key
PidFile none
"""
_NGINX = """\
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  server {{ listen {host}:{port}; }}
}}
"""


def doctor(world: NetnsWorld, server: Endpoint, *arguments: str) -> dict[str, Any]:
    """What the command says in the client's place."""
    words = [sys.executable, "-m", "brokernat", "doctor", "--bootstrap-server", str(server), "--format", "json"]
    done = subprocess.run(
        world.client.command([*words, *arguments]), capture_output=True, text=True, timeout=ENDS_WITHIN, check=False
    )
    assert done.returncode in (0, 3, 5), done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def severities(said: dict[str, Any]) -> dict[str, str]:
    return {each["code"]: each["severity"] for each in said["findings"]}


def answers(place: Namespace, end: Endpoint) -> bool:
    try:
        place.dial(end).close()
    except OSError:
        return False
    return True


def sshd(end: Endpoint, folder: Path) -> list[str]:
    # What systemd makes for it, and the package does not.
    Path("/run/sshd").mkdir(exist_ok=True)
    subprocess.run([tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
    (folder / "sshd_config").write_text(_SSHD.format(host=end.host, port=end.port, folder=folder))
    return [tool("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")]


def nginx(end: Endpoint, folder: Path) -> list[str]:
    (folder / "nginx.conf").write_text(_NGINX.format(host=end.host, port=end.port, folder=folder))
    return [tool("nginx"), "-e", "stderr", "-c", str(folder / "nginx.conf")]


@pytest.mark.parametrize(
    ("server", "port", "named", "first_bytes"),
    [(sshd, 22, "an SSH server answers", b"SSH-2.0"), (nginx, 80, "an HTTP server answers", b"HTTP/1.1")],
    ids=["sshd", "nginx"],
)
def test_another_server_at_the_port(
    nginx_world: NetnsWorld, tmp_path: Path, server: Any, port: int, named: str, first_bytes: bytes
) -> None:
    place = nginx_world.namespace("local")
    end = Endpoint(nginx_world.local.bound[1].host, port)
    with serving(server(end, tmp_path), place, lambda: answers(place, end), tmp_path / "log"):
        said = doctor(nginx_world, end)
    assert severities(said) == {"BN104": "error"}
    (found,) = said["findings"]
    assert found["message"] == named
    assert first_bytes.decode() in found["evidence"][0]
    assert severities(doctor(nginx_world, nginx_world.local.bound[1])).get("BN104") is None


def test_a_line_of_the_hosts_file_leads_a_broker_s_name_elsewhere(nginx_world: NetnsWorld) -> None:
    server = nginx_world.local.endpoints("NAMED")[1]
    node = f"node 1 at {NAME}:{server.port}"
    with nginx_world.client.hosts(f"192.168.1.23 {NAME}"):
        shadowed = doctor(nginx_world, server)
    assert {code: each for code, each in severities(shadowed).items() if each != "info"} == {
        "BN302": "error",
        "BN306": "error",
    }
    assert [each["code"] for each in shadowed["root_causes"]] == ["BN306"]
    (found,) = (each for each in shadowed["findings"] if each["code"] == "BN306")
    assert (found["subject"], found["evidence"]) == (node, [f"/etc/hosts: 192.168.1.23 {NAME}"])

    with nginx_world.client.hosts(f"{server.host} {NAME}"):
        right = doctor(nginx_world, server, "--fail-on", "warning")
    assert severities(right)["BN306"] == "info"
    assert set(severities(right).values()) == {"info"}

    (rule,) = found["remedy"]["rules"]
    healed = doctor(nginx_world, server, "--map", rule, "--fail-on", "warning")
    assert "BN306" not in severities(healed)
    assert set(severities(healed).values()) <= {"info"}
