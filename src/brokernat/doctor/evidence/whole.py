"""Everything that one run saw, with what brokers' files say."""

from __future__ import annotations

from dataclasses import dataclass

# Read at run time as well: pydantic looks the types of fields up.
from brokernat.doctor.evidence.cluster import Coordinator, Leaderless, ListenerSeen, Path
from brokernat.doctor.evidence.executors import ExecutorSeen
from brokernat.doctor.evidence.look import Look

VERSION = 1


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """What a broker's file says about its listeners. `name` is the file, with the service of a compose file.

    `settings` are in the order of the file, a name that is given twice is there twice; no other settings are kept.
    `published` are a container's ports with the host's, None where the file is no compose file.
    """

    name: str
    settings: tuple[tuple[str, str], ...]
    published: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything one run saw. `bootstraps` and `paths` are in the order of the configuration and of node ids.

    `replicas` are the node ids that partitions name, None where they were not asked for. `dns_lookup` is the client's
    `client.dns.lookup`.
    `executors` has the driver's JVM too; it is empty where no Spark was asked.
    """

    taken_at: str
    cluster: str
    security_protocol: str
    mechanism: str | None
    rules: tuple[str, ...] | None
    unmapped: str
    bootstraps: tuple[Look, ...]
    paths: tuple[Path, ...] = ()
    replicas: tuple[int, ...] | None = None
    leaderless: tuple[Leaderless, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()
    dns_lookup: str | None = None
    executors: tuple[ExecutorSeen, ...] = ()
    files: tuple[BrokerFile, ...] = ()
    listeners: tuple[ListenerSeen, ...] = ()
    version: int = VERSION
