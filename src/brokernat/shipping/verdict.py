"""What the brokers' answers make of records that were sent; pure.

A broker that refuses a batch for one of its records refuses them all, and which one is at fault shows when they come
apart: refused records are halved until each stands alone. An error that says nothing about the record lets it be sent
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from brokernat.shipping.block import Block
from brokernat.shipping.ledger import Rejection
from brokernat.shipping.producer import KafkaFault, describe, rejects


class Run(NamedTuple):
    """Consecutive records of a block on their way, from the sequence number `first` on."""

    block: Block
    first: int
    records: Sequence[bytes]


class Verdict(NamedTuple):
    """What is left to do of a group: nothing for records that are in none of these."""

    apart: list[list[Run]]
    """Refused in a batch: groups, each to be sent without the other; the later one stands first."""
    again: list[Run]
    """Not delivered, for no fault of their own."""
    trouble: KafkaFault | None
    """Why those were not delivered."""
    rejection: Rejection | None
    """Refused while it stood alone."""


def judge(group: Sequence[Run], faults: Mapping[bytes, KafkaFault]) -> Verdict:
    """What becomes of a group that was sent.

    Args:
        group: what was sent together.
        faults: the error reports, by record.
    """
    faulty = list(_faulty(group, faults))
    refused = [run for run, fault in faulty if rejects(fault)]
    if refused and sum(len(run.records) for run in group) == 1:
        (((block, sequence, (record,)), fault),) = faulty
        return Verdict([], [], None, Rejection(block.source, sequence, describe(fault), record))
    half = len(refused) // 2
    return Verdict(
        apart=[part for part in (refused[half:], refused[:half]) if part],
        again=[run for run, fault in faulty if not rejects(fault)],
        trouble=next((fault for _, fault in faulty if not rejects(fault)), None),
        rejection=None,
    )


def _faulty(group: Sequence[Run], faults: Mapping[bytes, KafkaFault]) -> Iterator[tuple[Run, KafkaFault]]:
    """The records that were not acknowledged, each as a run of its own."""
    for block, first, records in group:
        for sequence, record in enumerate(records, first):
            if fault := faults.get(record):
                yield Run(block, sequence, (record,)), fault
