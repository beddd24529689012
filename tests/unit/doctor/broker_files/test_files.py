"""Files from the disk, and what is no broker's file."""

import os
from pathlib import Path

import pytest
from tests.unit.doctor.broker_files.conftest import KRAFT, SITUATION_1

from brokernat.doctor.broker_files import read_broker_files
from brokernat.doctor.evidence import Evidence, to_json
from brokernat.errors import ConfigError


def test_both_kinds_and_no_secret(tmp_path: Path) -> None:
    properties, compose = tmp_path / "server.properties", tmp_path / "docker-compose.yml"
    properties.write_bytes(SITUATION_1.encode() + b"\nname=\xff\xfe\n")
    compose.write_text("services: {a: {environment: [KAFKA_NODE_ID=1]}, b: {environment: [KAFKA_NODE_ID=2]}}")
    found = read_broker_files([properties, compose, properties])
    assert [each.name for each in found] == [str(properties), f"{compose} a", f"{compose} b"]
    assert "canary" not in to_json(Evidence.without_network("files", files=found))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.properties", None, "cannot be read: No such file or directory"),
        ("empty.properties", b"", "says nothing about a broker's listeners"),
        ("client.properties", b"bootstrap.servers=a:1", "says nothing about a broker's listeners"),
        ("noise", os.urandom(4096).replace(b"\\u", b""), "says nothing about a broker's listeners"),
        ("huge", b"#" * (2**20 + 1), "is larger than a broker's file ever is"),
        ("c.yml", b"services: {a: {image: nginx}}", "says nothing about a broker's listeners"),
        ("c.yaml", b"\xff\xfe", "is not UTF-8 text"),
        ("c.yaml", KRAFT.encode(), "has no `services`"),
    ],
)
def test_each_with_one_report(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_broker_files([tmp_path / name])
    assert len(caught.value.problems) == 1
    assert f"`{tmp_path / name}` {said}" in str(caught.value)


def test_a_folder_and_all_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory") as caught:
        read_broker_files([tmp_path, tmp_path / "absent"])
    assert len(caught.value.problems) == 2


def test_a_name_that_is_no_text_is_text_in_the_evidence(tmp_path: Path) -> None:
    (tmp_path / "\udcff.properties").write_text("node.id=1\n")
    (found,) = read_broker_files([tmp_path / "\udcff.properties"])
    assert found.name == f"{tmp_path}/\ufffd.properties"
    assert "\ufffd.properties" in to_json(Evidence.without_network("files", files=(found,)))
