"""The JSON Schema of `brokernat.yaml`, for editors: made from the model, never by hand."""

from __future__ import annotations

import json

from brokernat.config.model import ConfigFile

_HEAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "brokernat.yaml",
    "description": "Kafka clusters with their address maps, and the pipelines that use them.",
}


def json_schema() -> str:
    """The schema as text with a line end."""
    schema = ConfigFile.model_json_schema(by_alias=True, mode="validation")
    schema["$defs"] = {name.removesuffix("Section"): definition for name, definition in schema["$defs"].items()}
    text = json.dumps(
        _without_titles(_HEAD | {key: value for key, value in schema.items() if key not in _HEAD}), indent=2
    )
    return text.replace('Section"', '"') + "\n"


def _without_titles(node: object, *, names: bool = False) -> object:
    """pydantic's titles repeat the names; a property that is called `title` would stay."""
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_titles(value, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if names or key != "title" or value == _HEAD["title"]
    }
