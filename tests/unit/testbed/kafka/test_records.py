"""Record batches: what is written is read back, the check sum is the right one."""

from __future__ import annotations

import gzip
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokernat.testbed import Record
from brokernat.testbed.kafka.primitives import Reader, varint
from brokernat.testbed.kafka.records import crc32c, decode_batches, encode_batch, placed

_BYTES = st.none() | st.binary(max_size=40)
_RECORDS = st.lists(
    st.builds(
        Record,
        value=_BYTES,
        key=_BYTES,
        headers=st.lists(st.tuples(st.text(max_size=10), _BYTES), max_size=3).map(tuple),
        partition=st.just(3),
        timestamp=st.integers(0, 2**45),
    ),
    min_size=1,
    max_size=20,
)


@given(_RECORDS)
def test_records_come_back(records: list[Record]) -> None:
    ((behind, found),) = decode_batches(encode_batch(records, now=0), partition=3)
    assert behind == len(records)
    assert [(one.key, one.value, one.headers, one.timestamp, one.partition) for one in found] == [
        (one.key, one.value, one.headers, one.timestamp, one.partition) for one in records
    ]
    assert [one.offset for one in found] == list(range(len(records)))


@given(st.integers(-(2**62), 2**62))
def test_varint(value: int) -> None:
    assert Reader(varint(value)).varint() == value


def test_the_check_value_of_crc_32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_a_batch_that_was_cut_short_is_left_for_the_next_fetch() -> None:
    whole = encode_batch([Record(b"a", timestamp=1)], now=0)
    assert len(list(decode_batches(whole + whole[:-1], 0))) == 1
    assert list(decode_batches(whole[:11], 0)) == []


def test_gzip_is_read_and_others_are_refused_by_number() -> None:
    plain = encode_batch([Record(b"value", timestamp=5)], now=0)
    head, body = plain[:61], plain[61:]
    packed = gzip.compress(body)

    def with_compression(number: int) -> bytes:
        fields = bytearray(head)
        struct.pack_into(">i", fields, 8, len(head) - 12 + len(packed))
        struct.pack_into(">h", fields, 21, number)
        return bytes(fields) + packed

    ((_, (record,)),) = decode_batches(with_compression(1), 0)
    assert record.value == b"value"
    with pytest.raises(ValueError, match="compression 4 is not read here"):
        list(decode_batches(with_compression(4), 0))


def test_records_without_a_partition_take_turns() -> None:
    by_partition = placed([Record(b"a"), Record(b"b"), Record(b"c", partition=1), Record(b"d")], 3)
    assert {number: [record.value for record in records] for number, records in by_partition.items()} == {
        0: [b"a", b"d"],
        1: [b"b", b"c"],
    }
