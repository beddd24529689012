"""What shipping refuses, in words: a spool that is held, full, damaged; a record that finds no room."""

from __future__ import annotations

from pathlib import Path

from brokernat.errors import BrokernatError
from brokernat.plurals import counted
from brokernat.shipping.block import Destination


class SpoolBusyError(BrokernatError):
    """Another process holds the spool: two writers would give the same sequence numbers to different records."""

    exit_code = 2

    def __init__(self, directory: Path, holder: str) -> None:
        super().__init__(
            f"the spool {directory} is in use by process {holder or 'unknown'}",
            hint="give each process a spool of its own, or set `shared_spool=True`: each takes a numbered one below it",
        )


class SpoolUnsafeError(BrokernatError):
    """Others may write the folder, or something in it is not as a spool makes it. Nothing was written."""

    exit_code = 2

    def __init__(self, directory: Path, reason: str, hint: str) -> None:
        super().__init__(f"the spool {directory} is not safe: {reason}", hint=hint)


class OtherDestinationError(BrokernatError):
    """The spool holds records that were taken for another topic, and would be sent to the wrong one."""

    exit_code = 2

    def __init__(self, directory: Path, waiting: int, held_for: Destination, wanted: Destination) -> None:
        ship = "brokernat ship --once"
        super().__init__(
            f"the spool {directory} holds {counted(waiting, 'record')} for {held_for}, and was opened for {wanted}",
            hint="name another folder, or send first what it holds, either where it belongs: "
            f"`{ship} --cluster {held_for.cluster} --topic {held_for.topic} --spool {directory}`; or to the new topic: "
            f"`{ship} --redirect --cluster {wanted.cluster} --topic {wanted.topic} --spool {directory}`",
        )


class OtherClusterError(BrokernatError):
    """The spool holds records that were taken for a cluster of this name with another id."""

    exit_code = 2

    def __init__(self, directory: Path, waiting: int, destination: Destination, held_for: str, found: str) -> None:
        cluster, topic = destination
        super().__init__(
            f"the spool {directory} holds {counted(waiting, 'record')} for cluster `{cluster}` with the id {held_for}; "
            f"the bootstrap servers of `{cluster}` belong to the cluster with the id {found} now",
            hint=f"give `{cluster}` its bootstrap servers back, or the other cluster a name of its own; if the records "
            "are to go to that cluster: "
            f"`brokernat ship --once --redirect --cluster {cluster} --topic {topic} --spool {directory}`",
        )


class SpoolDamagedError(BrokernatError):
    """What is in the folder is not a spool that this version reads."""

    exit_code = 2

    def __init__(self, directory: Path, reason: str) -> None:
        super().__init__(
            f"the spool {directory} cannot be read: {reason}",
            hint="move the folder aside and keep it: `sqlite3 spool.db .recover` gets out what is whole",
        )


class SpoolFullError(BrokernatError):
    """The spool holds as much as it may, or cannot be written, as on a full disk. Nothing of the block is in it."""

    exit_code = 6


class NotShippedError(BrokernatError):
    """A record was refused: it is neither in the queue nor in the spool. Audit handlers raise it at the call."""

    exit_code = 6

    def __init__(self, reason: str) -> None:
        super().__init__(f"the record was not taken: {reason}")
        self.reason = reason
