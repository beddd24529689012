"""Messages of Kafka's client without secrets; brokers are in tests/integration."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JJavaError

from brokernat.errors import ConfigError
from brokernat.pipelines.kafka import admin
from brokernat.pipelines.kafka.admin import open_admin


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
