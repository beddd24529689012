"""What a probe tells of a path that does harm: how each stage ended and how often it was tried, and no more."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path as File

import pytest
from tests.unit.doctor.probes.disturbed import API_VERSIONS, METADATA, Path, probed_through

from brokernat.doctor.evidence import EndpointProbe, Tries


def tried(probe: EndpointProbe, stage: str) -> Tries:
    found = probe.tried(stage)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_a_path_that_is_well_takes_two_exchanges_more() -> None:
    probe, met = probed_through(Path())
    assert probe.failed is None
    assert probe.complete
    assert probe.size is not None
    assert [(each.direction, each.outcome, each.size > 8192) for each in probe.size.transfers] == [
        ("request", "ok", True),
        ("answer", "ok", True),
    ]
    # One connection for the stages, five later ones for a balancer over three brokers.
    assert {each.stage: (each.made, each.failed) for each in probe.tries} == {
        **dict.fromkeys(("resolve", "metadata", "identity", "size"), (1, 0)),
        **dict.fromkeys(("connect", "versions"), (6, 0)),
    }
    assert met.connections == 6


def test_a_hung_broker_is_silent_and_is_not_called_something_else() -> None:
    probe, _ = probed_through(Path(answers={API_VERSIONS: lambda _: None}), patience=1.0)
    assert probe.versions is not None
    assert (probe.versions.outcome, probe.versions.protocol, probe.failed) == ("silent", "", "versions")
    assert (tried(probe, "versions").made, tried(probe, "versions").faults) == (3, ("silent",) * 3)


def test_a_gateway_without_a_broker_closes() -> None:
    probe, _ = probed_through(Path(closes=True))
    assert probe.versions is not None
    assert (probe.versions.outcome, probe.versions.protocol, probe.versions.received) == ("closed", "", 0)
    assert tried(probe, "versions").failed == 3


@pytest.mark.parametrize(("mechanisms", "seen"), [((), ()), (("PLAIN", "SCRAM-SHA-512"), ("PLAIN", "SCRAM-SHA-512"))])
def test_a_connection_that_is_closed_at_metadata_is_told_from_a_listener_with_a_login(
    mechanisms: tuple[str, ...], seen: tuple[str, ...]
) -> None:
    closed = None if mechanisms else METADATA
    probe, _ = probed_through(Path(closes_at=closed), cluster={"mechanisms": mechanisms})
    assert probe.metadata is not None
    assert (probe.failed, probe.metadata.outcome, probe.metadata.mechanisms) == ("metadata", "closed", seen)


@pytest.mark.parametrize("resets", [{1}, {1, 2}, {2}, {1, 3, 4}])
def test_connections_that_are_reset_now_and_then_are_counted_and_no_failure(resets: set[int]) -> None:
    """The first refusal is asked in two more ways, so numbers 2 and 3 may be those."""
    probe, _ = probed_through(Path(resets=frozenset(resets)))
    assert probe.failed is None
    assert probe.identity is not None
    assert (probe.identity.node_id, probe.identity.others) == (1, ())
    assert "reset" in tried(probe, "versions").faults
    assert tried(probe, "versions").failed < tried(probe, "versions").made


@pytest.mark.parametrize(("after", "stage", "received"), [(8, "versions", 8), (3, "versions", 3), (80, "metadata", 24)])
def test_a_connection_that_is_cut_tells_after_how_many_bytes(after: int, stage: str, received: int) -> None:
    probe, _ = probed_through(Path(cut_after=after))
    assert probe.failed == stage
    result = probe.versions if stage == "versions" else probe.metadata
    assert result is not None
    assert (result.outcome, result.received) == ("cut", received)
    assert tried(probe, stage).faults == ("cut",) * 3


def test_a_cut_behind_the_metadata_is_told_by_who_answers_and_by_the_size() -> None:
    probe, _ = probed_through(Path(cut_after=700), cluster={"newest_api_versions": 3})
    assert probe.failed is None
    assert probe.size is not None
    assert {(each.direction, each.outcome) for each in probe.size.failed} == {("answer", "cut")}
    assert all(0 < each.received <= 700 for each in probe.size.failed)


@pytest.mark.parametrize(
    ("path", "outcomes"),
    [
        (
            Path(largest_answer=700),
            [
                ("request", 2000, "ok"),
                ("request", 10000, "ok"),
                ("answer", 2000, "silent"),
                ("answer", 10000, "silent"),
            ],
        ),
        (
            Path(largest_answer=4000),
            [("request", 2000, "ok"), ("request", 10000, "ok"), ("answer", 2000, "ok"), ("answer", 10000, "silent")],
        ),
        (
            Path(largest_request=1400),
            [("request", 2000, "silent"), ("request", 10000, "silent"), ("answer", 2000, "ok")],
        ),
    ],
    ids=["answers", "very-large-answers", "requests"],
)
def test_what_is_lost_only_when_it_is_large(path: Path, outcomes: list[tuple[str, int, str]]) -> None:
    probe, _ = probed_through(path, patience=2.0)
    assert probe.failed is None
    assert probe.size is not None
    found = [(each.direction, round(each.size, -3), each.outcome) for each in probe.size.transfers]
    assert [each for each in outcomes if each not in found] == []


def test_a_broker_without_these_requests_is_not_accused() -> None:
    probe, _ = probed_through(Path(answers={API_VERSIONS: without_large_requests}))
    assert probe.size is not None
    assert (probe.size.outcome, probe.size.ok) == ("not-possible", True)


def without_large_requests(right: bytes) -> bytes:
    """Metadata 0 to 6 and nothing else, as a small proxy may offer."""
    return struct.pack(">ii", 16, int.from_bytes(right[4:8], "big")) + struct.pack(">hihhh", 0, 1, METADATA, 0, 6)


def test_one_connection_at_a_time_is_enough() -> None:
    """`max.connections.per.ip=1`: what is more is closed by the broker."""
    probe, met = probed_through(Path(at_once=1))
    assert probe.failed is None
    assert probe.size is not None
    assert probe.size.ok
    assert probe.identity is not None
    assert (probe.identity.node_id, probe.identity.others) == (1, ())
    assert met.most_at_once <= 2


@pytest.mark.parametrize(
    ("greeting", "protocol"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "SSH"),
        (b"220 mail.example ESMTP\r\n", "SMTP or FTP"),
        (bytes.fromhex("4a0000000a") + b"8.0.36\0\x08\0\0\0", "MySQL"),
        (bytes.fromhex("5b0000000a") + b"8.0.36-0ubuntu0.22.04.1\0\x08\0\0\0", "MySQL"),
    ],
)
def test_another_program_is_told_by_what_it_sends(greeting: bytes, protocol: str) -> None:
    probe, met = probed_through(Path(greets=greeting))
    assert probe.versions is not None
    assert (probe.versions.outcome, probe.versions.protocol) == ("other-protocol", protocol)
    assert met.connections == 1


@pytest.mark.parametrize(("newest", "asked"), [(0, 0), (2, 2), (5, 5), (6, 6)])
def test_requests_stay_within_what_the_peer_offers(newest: int, asked: int) -> None:
    probe, met = probed_through(Path(), cluster={"newest_metadata": newest})
    assert probe.answers
    assert met.versions[METADATA] == {asked}


def test_a_metadata_that_cannot_be_read_is_no_login_that_fails() -> None:
    probe, _ = probed_through(Path(answers={METADATA: lambda right: right[:8] + b"\xff" * (len(right) - 8)}))
    assert probe.metadata is not None
    assert (probe.failed, probe.metadata.outcome, probe.sasl) == ("metadata", "unreadable", None)
    assert tried(probe, "metadata").made == 1


HOSTILE = """
import resource, struct, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from tests.unit.doctor.probes.disturbed import API_VERSIONS, METADATA, Path, probed_through

def brokers(right):
    # The correlation id and the throttle time stay; there are two thousand million brokers.
    return right[:12] + struct.pack(">i", 0x7FFFFFFF) + right[16:]

def crowd(right):
    hosts = [b"10.%03d.0.%03d" % divmod(n, 256) for n in range(5000)]
    each = [struct.pack(">iH", n, 12) + host + struct.pack(">iH", 9092, 65535) for n, host in enumerate(hosts)]
    body = right[4:12] + struct.pack(">i", len(each)) + b"".join(each) + struct.pack(">hiI", -1, 1, 0)
    return struct.pack(">i", len(body)) + body

def noise(right):
    return right[:8] + b"\\xff" * (len(right) - 8)

def keys(right):
    return right[:10] + struct.pack(">i", 0x7FFFFFFF) + right[14:]

def frame(right):
    return struct.pack(">i", 0x7FFFFFF0) + right[4:]

for api, bend in ((METADATA, brokers), (METADATA, crowd), (METADATA, noise), (API_VERSIONS, keys), (METADATA, frame)):
    probe, _ = probed_through(Path(answers={api: bend}))
    sys.stdout.write(f"{bend.__name__} {probe.failed} {len(probe.brokers or ())}\\n")
"""


def test_hostile_peers_are_probed_within_a_gigabyte() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE], capture_output=True, text=True, cwd=File(__file__).parents[4], check=False
    )
    assert done.stdout.splitlines() == [
        "brokers metadata 0",
        "crowd None 5000",
        "noise metadata 0",
        "keys versions 0",
        "frame metadata 0",
    ], done.stderr
