"""The contract with the other languages that read the notation."""

import json
from pathlib import Path
from typing import Any

import pytest

from brokernat.address import AddressMap, Endpoint, canonical_text, fingerprint
from brokernat.address.faults import HINTS
from brokernat.errors import ConfigError

FOLDER = Path(__file__).parents[2] / "vectors" / "address_map"
VECTORS = [
    pytest.param(vector, id=f"{file.stem}: {vector['name']}")
    for file in sorted(FOLDER.glob("*.json"))
    for vector in json.loads(file.read_text("utf-8"))
]


@pytest.mark.parametrize("vector", VECTORS)
def test_vector(vector: dict[str, Any]) -> None:
    if not vector["valid"]:
        with pytest.raises(ConfigError) as caught:
            AddressMap.parse(vector["text"])
        assert [problem.code for problem in caught.value.problems] == vector["errors"]
        return
    address_map = AddressMap.parse(vector["text"])
    assert str(address_map) == vector["canonical"]
    assert AddressMap.parse(vector["canonical"]) == address_map
    if vector.get("needs_node_id"):
        with pytest.raises(ConfigError) as caught:
            canonical_text(address_map)
        assert [problem.code for problem in caught.value.problems] == ["needs-node-id"]
        return
    assert fingerprint(address_map) == vector["fingerprint"]
    for lookup in vector["lookups"]:
        endpoint = Endpoint.parse(lookup["endpoint"])
        rule = address_map.find(endpoint)
        assert (str(rule.translate(endpoint)) if rule else None) == lookup["reachable"]


def test_every_kind_of_fault_has_a_vector() -> None:
    shown = {kind for vector in VECTORS for kind in vector.values[0].get("errors", ())}  # type: ignore[union-attr]
    assert shown == set(HINTS) - {"missing-port", "needs-node-id"}
