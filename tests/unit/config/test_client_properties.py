"""Values of `client:`; what is refused is among the broken files."""

from collections.abc import Callable

import pytest

from brokernat.config import Config, Secret

Load = Callable[..., Config]
TEXT = "clusters: {{hq: {{bootstrap_servers: 'gw:1', client: {{{}}}}}}}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("acks: all", "all"),
        ("acks: 1", "1"),
        ("linger.ms: 0.5", "0.5"),
        ("enable.idempotence: true", "true"),
        ("enable.idempotence: FALSE", "false"),
        ("client.id: on", "on"),
        ("client.id: ''", ""),
        ("client.id: '$${x}'", "${x}"),
        ("client.id: 'me-${env:HOST}'", Secret("me-h1")),
        ("ssl.key.password: plain", Secret("plain")),
        ("ssl.key.password: 7", "7"),
    ],
)
def test_values(load_text: Load, written: str, value: str | Secret) -> None:
    client = load_text(TEXT.format(written), {"HOST": "h1"}).cluster("hq").client
    assert list(client.values()) == [value]
