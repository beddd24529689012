import pytest

from brokernat.config.kafka_names import NAMES, is_secret


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("sasl.jaas.config", True),
        ("sasl.password", True),
        ("ssl.keystore.key", True),
        ("schema.registry.basic.auth.user.info", True),
        ("my.interceptor.api.token", True),
        ("sasl.username", False),
        ("ssl.keystore.location", False),
        ("sasl.oauthbearer.token.endpoint.url", False),
        ("key.serializer", False),
    ],
)
def test_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_names_of_all_three_clients_are_known() -> None:
    assert {"acks", "group.id", "default.api.timeout.ms", "client.dns.lookup", "metadata.recovery.strategy"} <= NAMES
    assert not any(name.startswith("internal.") for name in NAMES)
