"""Ships logs to a Kafka topic without loss: a queue in memory, a durable spool, a producer with the address map."""

from brokernat.shipping.block import SEQUENCE_HEADER, Destination, Rejection
from brokernat.shipping.errors import (
    NotShippedError,
    OtherDestinationError,
    SpoolBusyError,
    SpoolDamagedError,
    SpoolFullError,
    SpoolUnsafeError,
)
from brokernat.shipping.handler import KafkaHandler
from brokernat.shipping.spool import Spool
from brokernat.shipping.status import Status, read_status

__all__ = [
    "SEQUENCE_HEADER",
    "Destination",
    "KafkaHandler",
    "NotShippedError",
    "OtherDestinationError",
    "Rejection",
    "Spool",
    "SpoolBusyError",
    "SpoolDamagedError",
    "SpoolFullError",
    "SpoolUnsafeError",
    "Status",
    "read_status",
]
