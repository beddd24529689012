"""The client settings of a cluster by the length of its line, each with its reason.

`auto` stands for `lan` until a round trip was measured: `brokernat pipeline check` and `run` measure it. The settings
that cost nothing on a short line are in both profiles; a long line adds larger requests, because each of them waits for
the line. A cluster's own `client:` wins over every one of them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from brokernat.config.cluster import Profile

LONG_LINE_MS = 10.0
"""From this round trip on a line is long: a poll of Spark's waits for three of them."""


class Role(enum.StrEnum):
    """The end of a query that the options are for."""

    SOURCE = "source"
    SINK = "sink"


@dataclass(frozen=True, slots=True)
class Setting:
    """A property of Kafka's client, in Kafka's own name, and why it has this value."""

    name: str
    lan: str
    wan: str
    reason: str

    def value(self, profile: Profile) -> str:
        """The value in a profile."""
        return self.wan if profile == "wan" else self.lan


_BOTH_ENDS = (
    Setting(
        "receive.buffer.bytes",
        "-1",
        "-1",
        "Spark sets 64 KiB, which switches the kernel's tuning off: 1.6 instead of 53 MB/s at 50 ms",
    ),
    Setting(
        "metadata.recovery.strategy",
        "rebootstrap",
        "rebootstrap",
        "when every known broker is gone (the gateway moved), the bootstrap servers are asked again (KIP-899)",
    ),
    Setting("reconnect.backoff.max.ms", "10000", "10000", "a gateway that is down is not dialled once a second"),
)
SETTINGS: dict[Role | None, tuple[Setting, ...]] = {
    None: _BOTH_ENDS,
    Role.SOURCE: (
        *_BOTH_ENDS,
        Setting(
            "max.poll.records",
            "10000",
            "50000",
            "Spark asks for the beginning and the end of the partition after each poll: two round trips",
        ),
        Setting(
            "max.partition.fetch.bytes", str(4 << 20), str(16 << 20), "one response of the broker fills such a poll"
        ),
    ),
    Role.SINK: (
        *_BOTH_ENDS,
        Setting("send.buffer.bytes", "-1", "-1", "Kafka sets 128 KiB, which switches the kernel's tuning off"),
        Setting(
            "batch.size",
            str(128 << 10),
            str(512 << 10),
            "five requests are on the line at most, so each should carry much",
        ),
        Setting("linger.ms", "10", "20", "a request waits for records to fill it"),
        Setting("compression.type", "lz4", "lz4", "fewer bytes for little CPU"),
    ),
}


def profile_of(round_trip_ms: float) -> Profile:
    """The profile for a measured round trip."""
    return "wan" if round_trip_ms >= LONG_LINE_MS else "lan"
