"""The scan finds what it looks for, in the response that holds it."""

import socket
import struct
import threading

import pytest
from tests.leaks.recorder import recording
from tests.leaks.scan import DESCRIBE_CONFIGS, Needles, Stream, scanned

from brokernat.address import Endpoint

ADVERTISED = "127.9.8.40"
UPSTREAM = [Endpoint("kafka-1.upstream.invalid", 43712), Endpoint("127.9.2.23", 45818), Endpoint("fd00::23", 45819)]
NEEDLES = Needles.of(UPSTREAM, [ADVERTISED])
METADATA = 3


def _stream(response: bytes, api: int = METADATA) -> Stream:
    """A connection with one request and its response."""
    request = struct.pack(">hhih", api, 9, 77, 6) + b"client"
    answer = struct.pack(">i", 77) + response
    return Stream(21000, bytearray(_framed(request)), bytearray(_framed(answer)))


def _framed(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


@pytest.mark.parametrize(
    ("response", "needle"),
    [
        (b"\x19kafka-1.upstream.invalid\x00", "host kafka-1.upstream.invalid"),
        (b"127.9.2.23", "host 127.9.2.23"),
        (b"..\x7f\x09\x02\x17..", "address bytes of 127.9.2.23"),
        (bytes.fromhex("fd00000000000000" "0000000000000023"), "address bytes of fd00::23"),
        (b"at broker:43712, not here", "text :43712"),
        (struct.pack(">i", 45818), "port 45818 as int32"),
        (ADVERTISED.encode() + struct.pack(">H", 45818), f"port 45818 as int16 behind {ADVERTISED}"),
    ],
)  # fmt: skip
def test_a_leak_is_found(response: bytes, needle: str) -> None:
    scan = scanned([_stream(b"before" + response + b"after")], NEEDLES)
    assert needle in {hit.needle for hit in scan.leaks}
    assert {hit.api for hit in scan.leaks} == {(METADATA, 9)}
    assert "API key 3 version 9" in str(scan.leaks[0])


def test_a_leak_is_found_where_no_frame_is_whole() -> None:
    stream = _stream(b"127.9.2.23")
    del stream.received[-1:]
    stream.received += b"3 and the stream ends"
    stream.received[:4] = struct.pack(">i", 1000)
    (hit,) = scanned([stream], NEEDLES).leaks
    assert hit.api is None
    assert "no response of a known request" in str(hit)


def test_what_clients_are_told_is_no_leak() -> None:
    answer = ADVERTISED.encode() + struct.pack(">i", 21002) + b"kafka-1.elsewhere.invalid:9092"
    scan = scanned([_stream(answer)], NEEDLES)
    assert not scan.leaks
    assert scan.answered == {(METADATA, 9): 1}
    assert scan.newest(METADATA) == 9
    assert scan.newest(0) is None
    assert scan.bytes_received == len(answer) + 8


def test_a_brokers_own_settings_are_listed_apart() -> None:
    scan = scanned([_stream(b"CLIENT://kafka-1.upstream.invalid:43712", DESCRIBE_CONFIGS)], NEEDLES)
    assert not scan.leaks
    assert [hit.needle for hit in scan.settings] == ["host kafka-1.upstream.invalid", "text :43712"]


def test_the_chance_of_a_hit_in_random_bytes() -> None:
    one = Needles({"four bytes": b"abcd"})
    assert one.by_chance(2**32) == 1
    assert Needles.of([Endpoint("kafka-1.upstream.invalid", 43712)], []).by_chance(1 << 20) < 0.001


def test_a_recorder_keeps_both_directions() -> None:
    with socket.create_server(("127.0.0.2", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"pong")

        thread = threading.Thread(target=answer)
        thread.start()
        with recording("127.0.0.3", "127.0.0.2", [port]) as recorder:
            with socket.create_connection(("127.0.0.3", port)) as client:
                client.sendall(b"ping")
                assert client.recv(100) == b"pong"
                assert client.recv(100) == b""
            (stream,) = recorder.take()
        thread.join()
    assert (stream.port, bytes(stream.sent), bytes(stream.received)) == (port, b"ping", b"pong")
    assert stream.client_id == ""
