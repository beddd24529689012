"""The errors of shipping: a spool that is in use, full, damaged or unsafe; a refused record."""

from __future__ import annotations

from pathlib import Path

from brokernat.errors import BrokernatError
from brokernat.shipping.block import Destination
from brokernat.text import counted


class SpoolBusyError(BrokernatError):
    """Another process uses the spool: two writers would assign the same sequence numbers."""

    exit_code = 2

    def __init__(self, directory: Path, holder: str) -> None:
        super().__init__(
            f"the spool {directory} is in use by process {holder or 'unknown'}",
            hint="give each process its own spool, or set `shared_spool=True`: each takes a numbered one below it",
        )


class SpoolUnsafeError(BrokernatError):
    """Other users may write to the folder, or a file in it is a link or is not this user's. Nothing was written."""

    exit_code = 2

    def __init__(self, directory: Path, reason: str, hint: str) -> None:
        super().__init__(f"the spool {directory} is not safe: {reason}", hint=hint)


class OtherDestinationError(BrokernatError):
    """The spool has records for another topic."""

    exit_code = 2

    def __init__(self, directory: Path, waiting: int, held_for: Destination, wanted: Destination) -> None:
        ship = "brokernat ship --once"
        super().__init__(
            f"the spool {directory} has {counted(waiting, 'record')} for {held_for}, but was opened for {wanted}",
            hint="name another folder, or first send its records, either to their topic: "
            f"`{ship} --cluster {held_for.cluster} --topic {held_for.topic} --spool {directory}`, or to the new topic: "
            f"`{ship} --redirect --cluster {wanted.cluster} --topic {wanted.topic} --spool {directory}`",
        )


class OtherClusterError(BrokernatError):
    """The spool has records for a cluster of this name with another id."""

    exit_code = 2

    def __init__(self, directory: Path, waiting: int, destination: Destination, held_for: str, found: str) -> None:
        cluster, topic = destination
        super().__init__(
            f"the spool {directory} holds {counted(waiting, 'record')} for cluster `{cluster}` with the id {held_for}; "
            f"the bootstrap servers of `{cluster}` now belong to the cluster with the id {found}",
            hint=f"restore the bootstrap servers of `{cluster}`, or give the other cluster another name; to send the "
            f"records to that cluster: "
            f"`brokernat ship --once --redirect --cluster {cluster} --topic {topic} --spool {directory}`",
        )


class SpoolDamagedError(BrokernatError):
    """The folder does not contain a spool that this version can read."""

    exit_code = 2

    def __init__(self, directory: Path, reason: str) -> None:
        super().__init__(
            f"the spool {directory} cannot be read: {reason}",
            hint="move the folder away and keep it: `sqlite3 spool.db .recover` recovers the intact records",
        )


class SpoolFullError(BrokernatError):
    """The spool is at its limit or cannot be written (full disk). Nothing of the block is stored."""

    exit_code = 6


class NotShippedError(BrokernatError):
    """A record was refused: it is neither in the queue nor in the spool. Audit handlers raise it in the log call."""

    exit_code = 6

    def __init__(self, reason: str) -> None:
        super().__init__(f"the record was not accepted: {reason}")
        self.reason = reason
