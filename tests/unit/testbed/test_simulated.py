"""Simulated brokers say what real ones do."""

import struct

import pytest

from brokernat.address import Endpoint
from brokernat.testbed.simulated import CLUSTER_ID, Simulated

CLUSTER = Simulated({1: Endpoint("a.example", 9092), 2: Endpoint("b.example", 9093)})


def asked(api: int, version: int, body: bytes, cluster: Simulated = CLUSTER, node_id: int = 1) -> bytes:
    """The body of the answer."""
    request = struct.pack(">hhih", api, version, 7, 3) + b"you" + body
    said = cluster.answer(node_id, request)
    assert said is not None
    length, correlation = struct.unpack_from(">ii", said)
    assert (length, correlation) == (len(said) - 4, 7)
    return said[8:]


def test_metadata_names_every_broker_and_the_cluster() -> None:
    said = asked(3, 5, struct.pack(">ib", 0, 0))
    assert b"a.example" in said
    assert b"b.example" in said
    assert CLUSTER_ID.encode() in said


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "code"), [(CLUSTER_ID, 1, 0), (CLUSTER_ID, 2, 129), ("other", 1, 129)]
)
def test_a_node_knows_itself(cluster_id: str, node_id: int, code: int) -> None:
    def compact(text: str) -> bytes:
        return bytes([len(text) + 1]) + text.encode()

    body = b"\0" + compact("you") + compact("1") + compact(cluster_id) + struct.pack(">i", node_id) + b"\0"
    assert struct.unpack_from(">h", asked(18, 5, body)) == (code,)


def test_a_wrong_broker_id_is_answered_with_the_right_one() -> None:
    resource = struct.pack(">b", 4) + struct.pack(">h", 2) + b"-1" + struct.pack(">i", -1)
    body = struct.pack(">i", 1) + resource + b"\0"
    assert b"expected 2 or empty string, but received -1" in asked(32, 1, body, node_id=2)
    without_the_right = Simulated(CLUSTER.advertised, describes_configs=False)
    assert b"expected" not in asked(32, 1, body, without_the_right)


def test_what_is_not_played_is_hung_up_on() -> None:
    assert CLUSTER.answer(1, struct.pack(">hhih", 17, 1, 7, -1)) is None
