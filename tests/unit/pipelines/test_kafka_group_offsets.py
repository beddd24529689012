"""When the offsets of a group are sent, and that what could not be committed is sent again."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JJavaError

from brokernat.pipelines.kafka import group_offsets as module
from brokernat.pipelines.kafka.group_offsets import GroupOffsets
from brokernat.pipelines.progress import PartitionProgress, Progress


class Admin:
    """An admin client whose next answers are refusals."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.answers = True
        self.sent: list[dict[tuple[str, int], int]] = []

    def alter_group_offsets(self, group: str, ends: dict[tuple[str, int], int]) -> SimpleNamespace:
        assert group == "audit"
        self.sent.append(ends)
        return SimpleNamespace(isDone=lambda: self.answers)

    def wait_for(self, *_: object) -> None:
        if self.refusals:
            self.refusals -= 1
            raise Py4JJavaError("refused", SimpleNamespace(_target_id="o1"))


def progress(batch: int, end: int) -> Progress:
    return Progress(committed=batch, partitions=(PartitionProgress("orders", 0, end, None),))


def group_of(admin: Admin) -> GroupOffsets:
    return GroupOffsets(cast("Any", admin), "audit")


def test_each_batch_is_sent_once() -> None:
    group = group_of(admin := Admin())
    for seen in (Progress(), progress(0, 10), progress(0, 10), progress(1, 15)):
        group.follow(seen)
    group.end(progress(2, 20))
    assert admin.sent == [{("orders", 0): end} for end in (10, 15, 20)]


def test_while_an_answer_is_awaited_nothing_more_is_sent() -> None:
    group = group_of(admin := Admin())
    admin.answers = False
    for batch in range(3):
        group.follow(progress(batch, 10 * batch + 10))
    assert admin.sent == [{("orders", 0): 10}]
    admin.answers = True
    group.follow(progress(3, 40))
    assert admin.sent == [{("orders", 0): 10}, {("orders", 0): 40}]


def test_what_could_not_be_committed_is_sent_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(module, "root_cause", lambda _: "GroupAuthorizationException: audit")
    group = group_of(admin := Admin(refusals=2))
    with caplog.at_level(logging.WARNING):
        for clock[0] in (0.0, 1.0, 2.0, 11.0, 12.0, 25.0, 26.0):
            group.follow(progress(0, 10))
    assert len(admin.sent) == 3
    assert caplog.messages == ["the offsets of group audit could not be committed: GroupAuthorizationException: audit"]
