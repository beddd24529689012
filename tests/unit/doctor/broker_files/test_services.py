"""What compose merges from several places: `extends`, `env_file`, `.env` and override files."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from brokernat.doctor.broker_files import read_broker_files
from brokernat.doctor.broker_files.compose import parse_compose
from brokernat.doctor.broker_files.services import interpolated, variables_of
from brokernat.errors import ConfigError


def settings(text: str, beside: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
    """The settings of each service, with these files beside it."""
    found = parse_compose(text, "c", (beside or {}).get)
    return {each.names[0]: dict(each.settings) for each in found}


def test_an_env_file_lies_below_the_environment() -> None:
    text = "services: {k: {env_file: [a.env, {path: absent.env, required: false}], environment: {KAFKA_NODE_ID: 2}}}"
    a = "# KAFKA_LISTENERS=X\nexport KAFKA_LISTENERS = 'A://:1'\nKAFKA_NODE_ID=1\nKAFKA_BROKER_ID=3 # before\nnoise\n"
    assert settings(text, {"a.env": a}) == {"k": {"listeners": "A://:1", "broker.id": "3", "node.id": "2"}}


def test_an_env_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"`a\.env`, `env_file` of service `k`, cannot be read") as error:
        settings("services: {k: {env_file: a.env}}")
    assert "docker compose config" in str(error.value)


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        (
            "services: {base: {environment: {KAFKA_NODE_ID: 1}}, k: {extends: base, environment: [KAFKA_LISTENERS=A://:1]}}",
            {},
        ),
        (
            "services: {k: {extends: {file: base.yml, service: b}, environment: {KAFKA_LISTENERS: 'A://:1'}}}",
            {"base.yml": "services: {b: {environment: [KAFKA_NODE_ID=1, KAFKA_LISTENERS=B://:2]}}"},
        ),
        (
            "services: {k: {extends: {file: base.yml, service: k}, environment: {KAFKA_LISTENERS: 'A://:1'}}}",
            {"base.yml": "services: {k: {environment: [KAFKA_NODE_ID=1]}}"},
        ),
    ],
)
def test_what_a_service_extends_is_below_it(text: str, beside: dict[str, str]) -> None:
    """A service that only others extend is a template and no broker."""
    assert settings(text, beside) == {"k": {"node.id": "1", "listeners": "A://:1"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {k: {extends: l, ports: []}, l: {extends: k, ports: []}}", "leads in a circle"),
        ("services: {k: {extends: other}}", "extends `other`, which `c` does not have"),
        ("services: {k: {extends: {file: b.yml, service: b}}}", "`b.yml`, `extends` of service `k`, cannot be read"),
        ("services: {k: {environment: [{KAFKA_NODE_ID: 1}]}}", "is a list with a mapping in it"),
        ("services: {k: {KAFKA_NODE_ID: 1}}", "`KAFKA_NODE_ID` stands beside `environment`"),
        ("apiVersion: v1\nkind: Pod\n---\nkind: Service", "is a Kubernetes manifest"),
        ("{apiVersion: kafka.strimzi.io/v1beta2, kind: Kafka}", "is a Kubernetes manifest"),
        (
            "services: {k: {environment: {KAFKA_NODE_ID: 1}, command: 'sh -c \"export KAFKA_LISTENERS=A://:1; run\"'}}",
            "its command sets listeners",
        ),
        (
            "services: {k: {environment: {KAFKA_ADVERTISED_LISTENERS: 'A://_{HOSTNAME_COMMAND}:1'}}}",
            "the image fills in `_{HOSTNAME_COMMAND}`",
        ),
    ],
)
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        settings(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A:-${B:-x}}:${P-9092}", "x:9092"),
        ("$A/${E}/${E:-x}/${E-x}", None),
        ("${E-x}|${E:-x}|${N:+y}|${M:+y}", "|x|y|"),
        ("$N and $$N and ${N:?needed}", "n and $N and n"),
        ("${M:?needed}", None),
        ("$DOLLAR", "$DOLLAR"),
        ("${A:-" * 200_000, None),
    ],
)
def test_variables(text: str, result: str | None) -> None:
    assert interpolated(text, {"E": "", "N": "n", "DOLLAR": "$DOLLAR"}) == result


def test_variables_come_from_the_file_beside() -> None:
    text = "services: {k: {environment: {KAFKA_LISTENERS: 'A://${HOST}:1'}}}"
    assert settings(text, {".env": 'HOST="gw.example"\n'}) == {"k": {"listeners": "A://gw.example:1"}}
    assert variables_of("A='b c'\nB=c #d\nC=d#e") == {"A": "b c", "B": "c", "C": "d#e"}


def test_a_pipe_beside_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.env")
    (tmp_path / "c.yml").write_text("services: {k: {env_file: a.env}}")
    with pytest.raises(ConfigError, match=r"`a\.env`, `env_file` of service `k`, cannot be read"):
        read_broker_files([tmp_path / "c.yml"])


def test_an_override_belongs_to_the_file_before_it(tmp_path: Path) -> None:
    first, over, other = tmp_path / "compose.yml", tmp_path / "compose.override.yml", tmp_path / "other.yml"
    first.write_text(
        "services: {k: {image: i, ports: ['1:1'], environment: {KAFKA_NODE_ID: 1, KAFKA_LISTENERS: 'A://:1'}}}"
    )
    over.write_text("services: {k: {ports: ['2:2'], environment: {KAFKA_LISTENERS: 'A://:2'}}}")
    other.write_text("services: {k: {image: i, environment: {KAFKA_NODE_ID: 2}}}")
    assert read_broker_files([over, first, other]) == read_broker_files([first, over, other])
    merged, alone = read_broker_files([first, over, other])
    assert dict(merged.settings) == {"node.id": "1", "listeners": "A://:2"}
    assert merged.published == ((1, 1), (2, 2))
    assert dict(alone.settings) == {"node.id": "2"}


def test_an_environment_file_of_a_container(tmp_path: Path) -> None:
    file = tmp_path / "kafka.env"
    file.write_text("KAFKA_NODE_ID=1\nKAFKA_ADVERTISED_LISTENERS=A://a.example:1\nSECRET=canary\n")
    (found,) = read_broker_files([file])
    assert found.settings == (("node.id", "1"), ("advertised.listeners", "A://a.example:1"))


def test_quotes_in_an_environment_file_are_part_of_the_value(tmp_path: Path) -> None:
    """`docker run --env-file` keeps them; compose, which reads such a file for `env_file`, does not."""
    file = tmp_path / "kafka.env"
    file.write_text('KAFKA_LISTENERS="A://:1"\n')
    (found,) = read_broker_files([file])
    assert found.settings == (("listeners", '"A://:1"'),)
    assert settings("services: {k: {env_file: a.env}}", {"a.env": file.read_text()}) == {"k": {"listeners": "A://:1"}}


def test_the_file_of_another_program_is_named(tmp_path: Path) -> None:
    file = tmp_path / "connect-distributed.properties"
    file.write_text("bootstrap.servers=a:1\nlisteners=HTTP://:8083\nconfig.storage.topic=c\n")
    with pytest.raises(ConfigError, match="is the file of a Kafka Connect worker, not of a broker"):
        read_broker_files([file])
