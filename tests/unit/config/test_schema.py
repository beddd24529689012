import json
from pathlib import Path
from typing import Any

from brokernat.config.schema import json_schema

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
