"""The two readers of the notation on the same random maps and endpoints, valid and not.

One Java process answers all requests of a test, because a JVM starts slower than it reads a thousand maps. The protocol
is in `tests/vectors/address_map/README.md`.
"""

from __future__ import annotations

import functools
import itertools
import random
import subprocess

import pytest

from brokernat.address import AddressMap, Endpoint, Rule, Unmapped, fingerprint
from brokernat.address.rules import Network, OneHost, Subdomains
from brokernat.errors import ConfigError
from brokernat.jvm import agent_jar, find_java

pytestmark = [pytest.mark.property, pytest.mark.conformance]

ROUNDS = 5_000
VALID_RULES = 1_500
HOSTS = ["a", "A.", "b.hq", "c.b.hq", "x_1-y", "10.0.0.1", "10.0.0.200", "10.1.2.3", "192.168.1.23", "1.2", "256.1.1.1"]
HOSTS += [
    "[fd00::1]",
    "[FD00:0:0::1]",
    "[fd00:0:0:1::]",
    "[::ffff:10.0.0.1]",
    "[1:2:3:4:5:6:7:8]",
    "[1:0:0:2::]",
    "[::]",
]
HOSTS += ["[fd00::1", "fd00::1", "[x]", "", "*.hq", "*.b.hq", "*", "a*", "gw{id}", "PLAINTEXT://a", "a b", "m\u00fcn"]
# A listener's protocol is no part of an endpoint that a broker advertises; only people write it.
ADVERTISED = [host for host in HOSTS if "://" not in host]
PORTS = ["", "", "", ":1", ":9092", ":65535", ":0", ":65536", ":", ":x", ":09", ":{9092+id}", ":{0+id}", ":1:2"]
NETWORKS = [
    "10.0.0.0/8",
    "10.0.0.0/24",
    "10.1.0.0/16",
    "192.168.0.0/22",
    "0.0.0.0/0",
    "10.0.0.1/32",
    "10.0.0.1/24",
    "10.0/8",
]
NETWORKS += [
    "fd00::/57",
    "fd01:0:0:80::/57",
    "fd00::/8",
    "::/0",
    "fd00::1/128",
    "fd00::1/64",
    "[fd00::]/64",
    "1.0.0.0/33",
]
NOISE = list("ab019.:/*[]{}+id=,#\n\r\t -\\\u0661\u00e9\u00a0")


def random_side(rng: random.Random) -> str:
    if rng.random() < 0.25:
        return rng.choice(NETWORKS)
    if rng.random() < 0.15:
        groups = [f"{rng.choice([0, 0, 1, rng.getrandbits(16)]):x}" for _ in range(8)]
        return f"[{':'.join(groups)}]" + rng.choice(PORTS)
    return rng.choice(HOSTS) + rng.choice(PORTS)


def random_rule(rng: random.Random) -> str:
    if rng.random() < 0.02:
        return "".join(rng.choices(NOISE, k=rng.randrange(20)))
    return rng.choice(["{}={}", "{} = {}", "{}\t={} "]).format(random_side(rng), random_side(rng))


@functools.cache
def valid_rules() -> tuple[str, ...]:
    """Random rules are mostly wrong; half of the maps are made of these, or few endpoints would be translated."""
    rng = random.Random("valid rules")
    rules = (random_rule(rng) for _ in itertools.count())
    return tuple(itertools.islice(filter(is_valid, rules), VALID_RULES))


def is_valid(rule: str) -> bool:
    try:
        fingerprint(AddressMap.parse(rule))
    except ConfigError:
        return False
    return True


def advertised_by(rule: Rule, rng: random.Random) -> str:
    """An endpoint that the rule matches."""
    pattern = rule.pattern
    port = pattern.port or rng.randrange(1, 65536)
    match pattern.hosts:
        case OneHost(host):
            return str(Endpoint(host, port))
        case Subdomains(domain):
            return f"{rng.choice(['a', 'B.c'])}.{domain}:{port}"
        case Network(network):
            return str(Endpoint(str(network[rng.randrange(network.num_addresses)]), port))


def random_request(rng: random.Random) -> tuple[str, str]:
    valid = rng.random() < 0.5
    rules = [rng.choice(valid_rules()) if valid else random_rule(rng) for _ in range(rng.randrange(1, 5))]
    text = rng.choice([",", "\n", ", ", "#x=y\r\n"]).join(rules)
    if valid and rng.random() < 0.5:
        parsed = AddressMap.parse(text).rules
        return text, advertised_by(rng.choice(parsed), rng) if parsed else "a:1"
    return text, rng.choice(ADVERTISED) + rng.choice([":1", ":9092", rng.choice(PORTS)])


def answer_of_python(rules: str, endpoint: str) -> str:
    try:
        address_map = AddressMap.parse(rules, Unmapped.PASS)
        print_of_map = fingerprint(address_map)
    except ConfigError as error:
        return f"-\t!{error.problems[0].code}"
    try:
        found = address_map.translate(Endpoint.parse(endpoint))
    except ConfigError as error:
        return f"{print_of_map}\t!{error.problems[0].code}"
    return f"{print_of_map}\t{found.endpoint if found.rule else '-'}"


def escaped(rules: str) -> str:
    return rules.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def answers_of_java(requests: list[tuple[str, str]]) -> list[str]:
    command = [str(find_java().home / "bin" / "java"), "-cp", str(agent_jar()), "io.brokernat.agent.Translate"]
    lines = "".join(f"{escaped(rules)}\t{endpoint}\n" for rules, endpoint in requests)
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=120, check=True)
    assert done.stderr == b""
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize("seed", range(2))
def test_python_equals_java(seed: int) -> None:
    rng = random.Random(seed)
    requests = [random_request(rng) for _ in range(ROUNDS)]
    expected = [answer_of_python(*request) for request in requests]
    answers = answers_of_java(requests)
    assert len(answers) == len(requests)
    different = [
        (request, python, java)
        for request, python, java in zip(requests, expected, answers, strict=True)
        if python != java
    ]
    assert different == []


def test_the_requests_are_worth_asking() -> None:
    rng = random.Random(0)
    answers = [answer_of_python(*random_request(rng)) for _ in range(ROUNDS)]
    translated = sum(not answer.endswith("\t-") and "!" not in answer for answer in answers)
    kinds = {answer.rpartition("!")[2] for answer in answers if "!" in answer}
    assert translated > ROUNDS / 10
    assert len(kinds) >= 20
