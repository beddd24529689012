"""Messages of Kafka's client without secrets; brokers are in tests/integration."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JJavaError

from brokernat.errors import ConfigError, NothingReachableError
from brokernat.pipelines.kafka import admin
from brokernat.pipelines.kafka.admin import KafkaAdmin, open_admin


def test_refused_properties_are_reported_without_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(_: object) -> None:
        raise Py4JJavaError("refused", SimpleNamespace(_target_id="o1"))

    jvm = SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(HashMap=lambda: SimpleNamespace(put={}.get))))
    jvm.org = SimpleNamespace(apache=SimpleNamespace(kafka=SimpleNamespace(clients=SimpleNamespace())))
    jvm.org.apache.kafka.clients.admin = SimpleNamespace(Admin=SimpleNamespace(create=create))
    spark = cast(Any, SimpleNamespace(sparkContext=SimpleNamespace(_jvm=jvm)))
    monkeypatch.setattr(admin, "root_cause", lambda _: "'a;b' after password, PlainLoginModule, acks=canary")
    line = 'PlainLoginModule required username="u" password="a;b";'
    with pytest.raises(ConfigError) as caught, open_admin(spark, {"sasl.jaas.config": line, "acks": "canary"}, "hq"):
        pass
    assert "'***' after password, PlainLoginModule, acks=canary" in caught.value.message


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("TimeoutException: The AdminClient thread has exited. Call: listNodes", ""),
        ("TimeoutException: Timed out waiting for a node assignment.", ": TimeoutException: Timed out waiting"),
    ],
)
def test_an_unreachable_cluster(monkeypatch: pytest.MonkeyPatch, cause: str, reason: str) -> None:
    class Client:
        def describeCluster(self) -> None:  # noqa: N802
            raise Py4JJavaError("refused", SimpleNamespace(_target_id="o1"))

    monkeypatch.setattr(admin, "root_cause", lambda _: cause)
    with pytest.raises(NothingReachableError) as caught:
        KafkaAdmin(None, Client(), "hq", "gw:1,gw:2").cluster_id()
    assert caught.value.message.startswith(f"cluster `hq`: no bootstrap server of gw:1,gw:2 answers{reason}")
    assert "AdminClient" not in caught.value.message
    assert caught.value.hint == "`brokernat doctor --cluster hq` finds out why"
