"""Both forms of Spring's configuration hold the same properties, and no secret."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from ruamel.yaml import YAML
from syrupy.assertion import SnapshotAssertion

from brokernat.config import Secret
from brokernat.errors import ConfigError
from brokernat.render import Subject, Syntax, spring
from brokernat.render.client_files import placeholders

AGENT = "/opt/brokernat/brokernat-agent.jar"
LOGIN = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_username": Secret("${env:HQ_USER}"),
    "sasl_password": Secret("${file:/run/secrets/hq-password}"),
}


@pytest.mark.parametrize("syntax", Syntax)
def test_file(about: Callable[..., Subject], snapshot: SnapshotAssertion, syntax: Syntax) -> None:
    assert spring(about(**LOGIN), agent_path=AGENT, syntax=syntax) == snapshot


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "it's",
        'a "quoted" one',
        "back\\slash",
        " blanks ",
        "two\nlines",
        "a: b # c",
        "\u2028\ufeff",
        "üñ→😀",
        "=:!#",
        "",
    ],
)
def test_both_forms_hold_the_value(about: Callable[..., Subject], value: str) -> None:
    subject = about(client_id=value)
    yaml, properties = (spring(subject, agent_path=AGENT, syntax=syntax) for syntax in Syntax)
    expected = {
        "bootstrap-servers": "172.10.1.40:9093,172.10.1.40:9094",
        "properties.client.id": value,
        "properties.brokernat.map": str(subject.address_map),
        "properties.brokernat.unmapped": "fail",
    }
    assert _read_yaml(yaml) == expected
    assert _read_properties(properties) == {f"spring.kafka.{name}": text for name, text in expected.items()}


def test_a_key_that_boot_would_change_stands_in_brackets(about: Callable[..., Subject]) -> None:
    subject = about()
    subject = type(subject)(subject.cluster, subject.bootstrap_servers, subject.address_map, {"my_key": "x"})
    assert "\n      '[my_key]': 'x'\n" in spring(subject, agent_path=AGENT)
    assert "\nspring.kafka.properties[my_key]=x\n" in spring(subject, agent_path=AGENT, syntax=Syntax.PROPERTIES)


def test_a_dollar_sign_that_spring_would_replace(about: Callable[..., Subject]) -> None:
    with pytest.raises(ConfigError, match=r"`client\.id` holds `\$\{`"):
        spring(about(client_id="${x}"), agent_path=AGENT)


def _read_yaml(text: str) -> dict[str, Any]:
    section: dict[str, Any] = YAML(typ="safe", pure=True).load(StringIO(text))["spring"]["kafka"]
    properties = section.pop("properties")
    return section | {f"properties.{name}": value for name, value in properties.items()}


def _read_properties(text: str) -> dict[str, str]:
    """As java.util.Properties does, for what stands in one line each."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            assert value.isascii()
            raw = value.encode().replace(b"\\ ", b" ").decode("unicode_escape")
            found[key] = raw.encode("utf-16", "surrogatepass").decode("utf-16")
    return found


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
