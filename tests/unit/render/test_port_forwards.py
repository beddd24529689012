"""The commands that open a map's forwards by hand, and the pods that host names mean."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from brokernat.address import Endpoint
from brokernat.config.model import KubectlSection
from brokernat.errors import ConfigError
from brokernat.render import Subject, kubectl, ssh
from brokernat.render.gateways import port_forward_words

LOCAL = Endpoint("127.0.0.1", 20001)
POD = "my-cluster-kafka-0.my-cluster-kafka-brokers.kafka.svc"


def test_ssh(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert ssh(about("kafka-1:9092 = 127.0.0.1:9093, [fd00::2]:9092 = 127.0.0.1:9094"), "-J a b") == snapshot


def test_kubectl(about: Callable[..., Subject], snapshot: SnapshotAssertion) -> None:
    assert kubectl(about(f"{POD}:9092 = 127.0.0.1:9093"), KubectlSection(context="staging")) == snapshot


@pytest.mark.usefixtures("nothing_ignored")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_of_the_script_ends_its_forwards(
    number: signal.Signals, about: Callable[..., Subject], tmp_path: Path
) -> None:
    program = tmp_path / "kubectl"
    program.write_text("#!/bin/sh\necho started\nexec sleep 60\n")
    program.chmod(0o755)
    script = kubectl(about(f"{POD}:9092 = 127.0.0.1:9093, {POD.replace('0', '1', 1)}:9092 = 127.0.0.1:9094"))
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(
        ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        shell.stdin.write(script)
        shell.stdin.close()
        assert [shell.stdout.readline() for _ in range(2)] == ["started\n"] * 2
        shell.send_signal(number)
        # At its end, so all processes that write to it have ended.
        assert shell.stdout.read() == ""
    assert shell.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("host", "namespace", "resource"),
    [
        (POD, "kafka", "pod/my-cluster-kafka-0"),
        ("kafka-controller-0.kafka-controller-headless.data.svc.cluster.local", "data", "pod/kafka-controller-0"),
        ("my-cluster-kafka-bootstrap.kafka.svc", "kafka", "service/my-cluster-kafka-bootstrap"),
        ("my-cluster-kafka-bootstrap.kafka", "kafka", "service/my-cluster-kafka-bootstrap"),
        ("my-cluster-kafka-bootstrap", "chosen", "service/my-cluster-kafka-bootstrap"),
    ],
    ids=["Strimzi's broker", "Bitnami's broker", "service", "short service", "bare service"],
)
def test_a_name_is_a_pod_or_a_service(host: str, namespace: str, resource: str) -> None:
    words = port_forward_words(Endpoint(host, 9092), LOCAL, KubectlSection(namespace="chosen", context="prod"))
    assert words == [
        "kubectl", "--context", "prod", "--namespace", namespace, "port-forward", "--address", "127.0.0.1", resource,
        "20001:9092",
    ]  # fmt: skip


def test_kubectl_keeps_its_own_context_and_namespace() -> None:
    assert port_forward_words(Endpoint("kafka", 9092), LOCAL, KubectlSection())[:3] == [
        "kubectl",
        "port-forward",
        "--address",
    ]


@pytest.mark.parametrize("host", ["10.244.0.7", "kafka.example.com", "svc"])
def test_what_kubernetes_does_not_name_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="not the name of a Kubernetes pod") as caught:
        port_forward_words(Endpoint(host, 9092), LOCAL, KubectlSection())
    assert POD in (caught.value.problems[0].hint or "")
