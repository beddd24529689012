"""The plug-in's reader of the notation: the shared vectors, and the same random maps as Python, valid and not.

`native/librdkafka-plugin/tests/translate.c` answers on stdout. It is built by the compiler that the wheel is built
with, and once more, where the machine has gcc, with the address and undefined behaviour sanitizers.
"""

from __future__ import annotations

import functools
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.property.test_python_equals_java import escaped, random_request

from brokernat.address import AddressMap, Endpoint, Unmapped, canonical_text
from brokernat.errors import ConfigError

pytestmark = [pytest.mark.property, pytest.mark.conformance]

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "native" / "librdkafka-plugin"
VECTORS = [
    vector
    for file in sorted((ROOT / "tests" / "vectors" / "address_map").glob("*.json"))
    for vector in json.loads(file.read_text())
]
ROUNDS = 10_000
NOTATION = ("fault", "ip", "endpoint", "rule", "rule_parser", "address_table")
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]


@pytest.fixture(scope="module", params=["as built", "sanitized"])
def translate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that translates."""
    command = [sys.executable, "-m", "ziglang", "cc"]
    if request.param == "sanitized":
        found = shutil.which("gcc")
        if not found:
            pytest.skip("no gcc on this machine")
        command = [found, *SANITIZERS]
    program = tmp_path_factory.mktemp("c") / "translate"
    sources = [PLUGIN / "tests" / "translate.c", *(PLUGIN / "src" / f"{name}.c" for name in NOTATION)]
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    subprocess.run([*command, *flags, "-o", program, *sources], check=True, timeout=300)
    return program


def answers(translate: Path, requests: list[tuple[str, str]]) -> list[str]:
    lines = "".join(f"{escaped(rules)}\t{endpoint}\n" for rules, endpoint in requests)
    done = subprocess.run([translate], input=lines.encode(), capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def kinds(answer: str) -> list[str]:
    """The faults of a map. A template is right where a map is parsed, and only refused where it is used."""
    found = [kind.removeprefix("!") for kind in answer.removeprefix("-\t").split(" ")]
    return [kind for kind in found if kind != "needs-node-id"] or ["needs-node-id"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vectors(vector: dict[str, Any], translate: Path) -> None:
    lookups = vector.get("lookups") or [{"endpoint": "a:1", "reachable": None}]
    found = answers(translate, [(vector["text"], lookup["endpoint"]) for lookup in lookups])
    if not vector["valid"]:
        assert kinds(found[0]) == vector["errors"]
    elif vector.get("needs_node_id"):
        assert kinds(found[0]) == ["needs-node-id"]
    else:
        assert found == [f"{vector['canonical']}\t{lookup['reachable'] or '-'}" for lookup in lookups]


def answer_of_python(rules: str, endpoint: str) -> str:
    try:
        address_map = AddressMap.parse(rules, Unmapped.PASS)
        canonical = canonical_text(address_map)
    except ConfigError as error:
        return f"-\t!{error.problems[0].code}"
    try:
        found = address_map.translate(Endpoint.parse(endpoint))
    except ConfigError as error:
        return f"{canonical}\t!{error.problems[0].code}"
    return f"{canonical}\t{found.endpoint if found.rule else '-'}"


@functools.cache
def asked_of_python(seed: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Random requests and Python's answers: both programs are held against the same."""
    rng = random.Random(seed)
    requests = [random_request(rng) for _ in range(ROUNDS)]
    return requests, [answer_of_python(*request) for request in requests]


@pytest.mark.parametrize("seed", range(2))
def test_python_equals_c(seed: int, translate: Path) -> None:
    requests, expected = asked_of_python(seed)
    found = [
        f"-\t!{kinds(answer)[0]}" if answer.startswith("-\t!") else answer for answer in answers(translate, requests)
    ]
    assert len(found) == len(expected)
    assert [case for case in zip(requests, expected, found, strict=True) if case[1] != case[2]] == []
