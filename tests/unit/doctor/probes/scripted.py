"""A channel that answers what a test wrote down, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from kio.schema.errors import ErrorCode
from kio.schema.list_offsets.v1.response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kio.schema.metadata.v6.response import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i32Timedelta

from brokernat.doctor.probes.channel import Channel

NONE, NOT_LEADER = ErrorCode(0), ErrorCode(6)


class Scripted:
    """Answers are given in turn."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[object] = []
        self.offered: dict[int, tuple[int, int]] | None = None
        self.patience = 60.0

    def offers(self, api: int, version: int) -> bool:
        """By what the greeting said, everything but ApiVersions v5 before one."""
        if self.offered is None:
            return (api, version) != (18, 5)
        return api in self.offered and version <= self.offered[api][1]

    async def ask(self, request: object, answer: object, most: int = 0) -> Any:
        """What comes next, or the error that comes next."""
        self.asked.append(request)
        told = self.answers.pop(0)
        if isinstance(told, Exception):
            raise told
        return told

    async def ask_raw(self, api: int, version: int, body: bytes, *, flexible: bool = False, most: int = 0) -> Any:
        """The same for a request that is written out."""
        return await self.ask((api, version, body, flexible), None)

    @property
    def channel(self) -> Channel:
        """As a probe takes it."""
        return cast("Channel", self)


def metadata(*partitions: tuple[str, int, int, ErrorCode, Sequence[int]]) -> MetadataResponse:
    """Topics of one partition each: topic, number, leader, error, replicas."""
    return MetadataResponse(
        throttle_time=i32Timedelta.parse(timedelta()),
        brokers=(),
        topics=tuple(
            MetadataResponseTopic(
                error_code=NONE,
                name=TopicName(topic),
                partitions=(
                    MetadataResponsePartition(
                        error_code=error,
                        partition_index=i32(number),
                        leader_id=BrokerId(leader),
                        replica_nodes=tuple(map(BrokerId, replicas)),
                        isr_nodes=tuple(map(BrokerId, replicas[:1])),
                    ),
                ),
            )
            for topic, number, leader, error, replicas in partitions
        ),
    )


def offsets(**errors: ErrorCode) -> ListOffsetsResponse:
    """The answer for partition 0 of each topic."""
    return ListOffsetsResponse(
        topics=tuple(
            ListOffsetsTopicResponse(
                name=TopicName(topic),
                partitions=(ListOffsetsPartitionResponse(partition_index=i32(0), error_code=error),),
            )
            for topic, error in errors.items()
        )
    )
