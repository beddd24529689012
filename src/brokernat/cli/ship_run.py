"""One run of `brokernat ship`: from what was said to the exit code, until it has read all or a signal ends it."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import click

from brokernat.cli import console, exit_codes
from brokernat.shipping.shipment import Shipment


def run_shipment(
    config_file: Path,
    cluster_name: str,
    topic: str,
    spool: Path,
    max_spool: int,
    files: tuple[str, ...],
    stdin: bool,
    from_beginning: bool,
    once: bool,
    durable: bool,
    patience: float,
) -> int:
    """Ship, and say what became of the records.

    Returns:
        The exit code: 6 where records are left in the spool, 128 and a signal's number where one ended it.

    Raises:
        click.UsageError: the spool's folder cannot be made.
        BrokernatError: the file, the spool, or the producer.
    """
    from brokernat.config import load
    from brokernat.shipping.pipe import Pipe
    from brokernat.shipping.producer import open_producer
    from brokernat.shipping.sender import Sender
    from brokernat.shipping.shipment import Shipment
    from brokernat.shipping.spool import Spool
    from brokernat.shipping.tail import Tail

    cluster = load(config_file).cluster(cluster_name)
    with _log_to_console():
        try:
            opened = Spool(spool, max_spool, durable=durable)
        except OSError as error:
            raise click.UsageError(f"the spool {spool} cannot be made: {error.strerror}") from None
        tail = Tail(files, opened.positions(), from_beginning=from_beginning) if files else None
        pipe = Pipe(sys.stdin.fileno()) if stdin else None
        shipment = Shipment(opened, Sender(opened, topic, partial(open_producer, cluster)), tail=tail, pipe=pipe)
        received = _stop_at_signals(shipment)
        pending = shipment.run(once=once or not (files or stdin), patience=patience)
    counts = opened.counts
    console.note(f"{counts['acknowledged']} acknowledged, {counts['rejected']} rejected, {pending} left in {spool}")
    if pending:
        return exit_codes.INCOMPLETE
    return 128 + received[0] if received else 0


@contextmanager
def _log_to_console() -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    log = logging.getLogger("brokernat")
    before = log.level, log.propagate
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]


def _stop_at_signals(shipment: Shipment) -> list[int]:
    """The first SIGTERM or SIGINT stops reading, the second does not wait for the brokers either."""
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if received:
            shipment.abort()
        else:
            shipment.stop()
        received.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
    return received
