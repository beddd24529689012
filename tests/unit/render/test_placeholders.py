"""What becomes of references and secrets: a placeholder, never a value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokernat.config import Secret
from brokernat.render import Subject
from brokernat.render.placeholders import placeholders

JAAS = 'x.PlainLoginModule required username="${env:U}" password="canary";'


@pytest.mark.parametrize(
    ("name", "value", "placeholder", "variables"),
    [
        ("sasl_password", "${env:PW}", "${PW}", {"PW": "as in brokernat.yaml"}),
        (
            "sasl_password",
            "${file:secrets/pw}",
            "${HQ_SASL_PASSWORD}",
            {"HQ_SASL_PASSWORD": "the content of the file secrets/pw"},
        ),
        ("sasl_password", "canary", "${HQ_SASL_PASSWORD}", {"HQ_SASL_PASSWORD": "the value of `sasl.password`"}),
        (
            "sasl_password",
            "${env:PW}canary",
            "${HQ_SASL_PASSWORD}",
            {"HQ_SASL_PASSWORD": "the value of `sasl.password`"},
        ),
        (
            "sasl_jaas_config",
            JAAS,
            "${HQ_SASL_JAAS_CONFIG}",
            {"HQ_SASL_JAAS_CONFIG": "the value of `sasl.jaas.config`"},
        ),
        # No name of a secret, so what stands around the reference is none either.
        ("client_id", "app-${env:HOST}-1", "app-${HOST}-1", {"HOST": "as in brokernat.yaml"}),
        # Looked up already, against the advice: nobody can tell whether it is one.
        ("client_id", "canary", "${HQ_CLIENT_ID}", {"HQ_CLIENT_ID": "the value of `client.id`"}),
    ],
)
def test_placeholders(
    about: Callable[..., Subject], name: str, value: str, placeholder: str, variables: dict[str, str]
) -> None:
    found = placeholders(about(**{name: Secret(value)}))
    assert found.properties == {name.replace("_", "."): placeholder}
    assert found.variables == variables
    assert "canary" not in repr(found)
