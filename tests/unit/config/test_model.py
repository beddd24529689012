"""Sections built in Python, as tests and other parts do; the file is in `test_load.py`."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from brokernat.address import Endpoint, parse_rule
from brokernat.config.model import (
    CatalogReference,
    ClusterSection,
    Decode,
    Pipeline,
    Reference,
    Registry,
    Sink,
    Source,
    json_schema,
)


def test_values_that_are_parsed_already_pass_through() -> None:
    rule = parse_rule("a:1=b:1")
    section = ClusterSection(bootstrap_servers=(Endpoint("gw", 1),), address_map=(rule,))
    assert section.bootstrap_servers == (Endpoint("gw", 1),)
    assert section.address_map == (rule,)


def test_defaults_lose_nothing() -> None:
    assert Source(cluster="hq", topics=("orders",)).starting_offsets == "earliest"
    reference = Reference(format="csv", path="c.csv", schema=None)
    assert (reference.duplicates, reference.refresh_seconds) == ("fail", 0)
    assert Reference(catalog=CatalogReference(table="crm.customers"), schema=None).refresh_seconds == 60
    assert ClusterSection(bootstrap_servers=(Endpoint("gw", 1),)).unmapped == "fail"


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://registry:8081", Endpoint("registry", 8081)),
        ("https://registry.hq/apis/ccompat/v7/", Endpoint("registry.hq", 443)),
        ("http://[fd00::1]", Endpoint("fd00::1", 80)),
    ],
)
def test_a_registry_has_an_endpoint(url: str, endpoint: Endpoint) -> None:
    registry = Registry(url=url)
    assert registry.endpoint == endpoint
    assert registry.url == url.rstrip("/")
    assert registry.authorization is None


@pytest.mark.parametrize(
    ("name", "value", "header"),
    [
        ("basic.auth.user.info", "me:canary", "Basic bWU6Y2FuYXJ5"),
        ("bearer.auth.token", "canary", "Bearer canary"),
    ],
)
def test_a_login_is_a_secret_until_it_is_sent(name: str, value: str, header: str) -> None:
    registry = Registry.model_validate({"url": "http://registry", "client": {name: value}})
    assert "canary" not in repr(registry)
    assert registry.authorization is not None
    assert registry.authorization.reveal() == header
    assert header not in repr(registry.authorization)


def test_reader_options_become_text() -> None:
    options = {"header": True, "maxColumns": 7, "sep": ";"}
    reference = Reference.model_validate({"format": "csv", "path": "c.csv", "options": options})
    assert reference.options == {"header": "true", "maxColumns": "7", "sep": ";"}


def test_sections_are_frozen() -> None:
    pipeline = Pipeline(
        name="tags",
        source=Source(cluster="hq", topics=("orders",)),
        decode=Decode(format="json", schema="a STRING"),
        sink=Sink(cluster="local", topic="tags", dead_letters="dead"),
        checkpoint="state",
    )
    with pytest.raises(ValidationError, match="frozen"):
        pipeline.checkpoint = "elsewhere"  # type: ignore[misc]


COMMITTED = Path(__file__).parents[3] / "docs" / "reference" / "brokernat.schema.json"


def test_the_committed_schema_is_that_of_the_model() -> None:
    assert COMMITTED.read_text("utf-8") == json_schema(), (
        "run: brokernat config schema > docs/reference/brokernat.schema.json"
    )


def test_keys_are_those_of_the_file() -> None:
    schema: dict[str, Any] = json.loads(json_schema())
    assert schema["required"] == ["clusters"]
    assert "schema" in schema["$defs"]["Decode"]["properties"]
    assert "name" not in schema["$defs"]["Pipeline"]["properties"]
    assert all(definition["additionalProperties"] is False for definition in schema["$defs"].values())
    assert all("description" in value or "$ref" in value for value in schema["$defs"]["Cluster"]["properties"].values())
