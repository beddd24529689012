"""Real clients in a process whose map cannot be used: no connection is opened, not even to the bootstrap server.

What `brokernat exec` sets, with a map that somebody wrote by hand. The bootstrap server is a socket that listens, so a
client that dials it is seen, and its login would have been sent there.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.integration.exec.conftest import PROGRAMS
from tests.integration.python_clients.libraries import LOCK, installed

from brokernat.clients.launch.environment import HOOK_FOLDER
from brokernat.clients.librdkafka import preload_library
from brokernat.jvm import agent_jar

pytestmark = pytest.mark.integration

RULES = "10.0.0.1:9092="
REASON = "line 1, column 1"
Command = Callable[[str, Mapping[str, str]], list[str]]


def _program(library: str) -> Command:
    return lambda server, _: [sys.executable, str(PROGRAMS / f"with_{library}.py"), server, "topic", "1", "3"]


def _kafka_tool(server: str, environ: Mapping[str, str]) -> list[str]:
    impatient = [
        "-Xmx64m",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        environ["CLASSPATH"],
        "org.apache.kafka.tools.TopicCommand",
    ]
    file = str(Path(environ["FOLDER"]) / "client.properties")
    return [environ["JAVA"], *impatient, "--bootstrap-server", server, "--command-config", file, "--list"]


PROPERTIES = """
default.api.timeout.ms=3000
request.timeout.ms=1500
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="in-the-clear";
"""

CLIENTS: dict[str, Command] = {
    "kafka-tool": _kafka_tool,
    "kafka-python": _program("kafka_python"),
    "kafka-python-2": _program("kafka_python"),
    "aiokafka": _program("aiokafka"),
    "confluent-kafka": _program("confluent_kafka"),
    "kcat": lambda server, _: ["kcat", "-L", "-m", "3", "-b", server],
}


@pytest.fixture
def bootstrap() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def _dialled(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("unmapped", ["fail", "pass"])
def test_no_connection_is_opened_and_the_reason_is_told(
    client: str, unmapped: str, bootstrap: socket.socket, tmp_path: Path, kafka_environ: Mapping[str, str]
) -> None:
    (tmp_path / "client.properties").write_text(PROPERTIES)
    library = [str(installed(LOCK))] if client == "kafka-python-2" else []
    environ = {
        **os.environ,
        **kafka_environ,
        "FOLDER": str(tmp_path),
        "JAVA_TOOL_OPTIONS": f"-javaagent:{agent_jar()}={RULES};unmapped={unmapped}",
        "LD_PRELOAD": str(preload_library()),
        "PYTHONPATH": os.pathsep.join([str(HOOK_FOLDER), *library]),
        "BROKERNAT_MAP": RULES,
        "BROKERNAT_UNMAPPED": unmapped,
    }
    server = f"127.0.0.1:{bootstrap.getsockname()[1]}"
    done = subprocess.run(
        CLIENTS[client](server, environ), env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert not _dialled(bootstrap), done.stderr[-3000:]
    assert done.returncode != 0, done.stdout
    assert REASON in done.stderr
    assert "refused" in done.stderr or "no connection is made" in done.stderr
    assert "in-the-clear" not in done.stderr


@pytest.mark.parametrize("client", ["kafka-tool", "aiokafka", "kcat"])
def test_without_a_map_the_same_client_dials(
    client: str, bootstrap: socket.socket, tmp_path: Path, kafka_environ: Mapping[str, str]
) -> None:
    """The control: the socket would have seen it."""
    (tmp_path / "client.properties").write_text(PROPERTIES)
    server = f"127.0.0.1:{bootstrap.getsockname()[1]}"
    environ = {**os.environ, **kafka_environ, "FOLDER": str(tmp_path)}
    subprocess.run(CLIENTS[client](server, environ), env=environ, capture_output=True, timeout=120, check=False)
    assert _dialled(bootstrap)
