"""When a run is tried again and when it ends; real brokers are in tests/integration/pipelines/test_policies.py."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokernat.address import AddressMap, Endpoint, NodeEndpoint
from brokernat.config import Cluster
from brokernat.errors import BrokernatError, ConfigError, IncompleteError, NothingReachableError, UnmappedEndpointError
from brokernat.pipelines import supervised
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.query import TransientFailureError, query_failure
from brokernat.pipelines.steps.counting import Counts
from brokernat.pipelines.supervised import LONGEST_DELAY, DeadLetterLimit, SupervisedRun, delay

AWAY = TransientFailureError("the query failed: TimeoutException: no answer")
LOST = IncompleteError("the query failed: OffsetOutOfRangeException: gone")


class Query:
    """A run that does what it is told with each poll: an error to raise, or whether it is alive."""

    def __init__(self, *polls: bool | BrokernatError) -> None:
        self.polls = iter(polls)
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True

    def activity(self) -> None:
        return None

    def poll(self) -> bool:
        found = next(self.polls)
        if isinstance(found, BrokernatError):
            raise found
        return found


class Section:
    retry_for = "1 minute"
    name = "tags"

    class sink:  # noqa: N801
        dead_letter_limit = "50% of 10"


class Prepared:
    pipeline = Section
    clusters = ()


@pytest.fixture
def supervise(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[SupervisedRun, list[Query]]]:
    """A run over these queries, begun one after another; an error is raised in place of a start."""

    def make(*queries: Query | BrokernatError) -> tuple[SupervisedRun, list[Query]]:
        begun: list[Query] = []
        waiting = iter(queries)

        def start(*_: object, **__: object) -> Query:
            query = next(waiting)
            if isinstance(query, BrokernatError):
                raise query
            begun.append(query)
            return query

        monkeypatch.setattr(supervised, "start", start)
        monkeypatch.setattr(supervised, "delay", lambda *_: 0.0)
        return SupervisedRun(cast("Any", None), cast("Any", Prepared), lambda _: None, references=()), begun

    return make


def test_delays_double_up_to_a_minute_and_differ() -> None:
    draw = random.Random(1)
    for failures, longest in ((1, 1), (2, 2), (5, 16), (7, LONGEST_DELAY), (10_000, LONGEST_DELAY)):
        found = [delay(failures, draw) for _ in range(50)]
        assert longest / 2 <= min(found) < max(found) <= longest


def test_a_failure_that_may_pass_begins_the_query_again(supervise: Callable[..., Any]) -> None:
    run, begun = supervise(Query(True, AWAY), NothingReachableError("away"), Query(True, False))
    # Runs, fails, finds no broker, begins, runs, ends.
    assert [run.poll() for _ in range(6)] == [True, True, True, True, True, False]
    assert len(begun) == 2
    assert run.failures == 2


def test_a_failure_that_does_not_pass_ends_the_run(supervise: Callable[..., Any]) -> None:
    run, begun = supervise(Query(LOST))
    with pytest.raises(IncompleteError, match="gone"):
        run.poll()
    assert len(begun) == 1


def test_what_lasts_too_long_ends_the_run(supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = supervise(Query(AWAY))
    monkeypatch.setattr(supervised, "delay", lambda *_: 61.0)
    with pytest.raises(TransientFailureError):
        run.poll()


def test_the_time_of_failures_counts_from_the_first_of_them(
    supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(supervised, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    run, begun = supervise(Query(AWAY), Query(AWAY), Query(AWAY))
    assert [run.poll() for _ in range(2)] == [True, True]
    clock[0] = 59.0
    assert [run.poll() for _ in range(2)] == [True, True]
    clock[0] = 61.0
    with pytest.raises(TransientFailureError):
        run.poll()
    assert len(begun) == 3


def test_a_written_batch_gives_all_the_time_again(
    supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = supervise(Query(AWAY), Query(AWAY), Query(False))
    pauses: Iterator[float] = iter([0.0, 59.0])
    found: list[int] = []

    def counted(failures: int, _: object) -> float:
        found.append(failures)
        return next(pauses)

    monkeypatch.setattr(supervised, "delay", counted)
    run.poll()
    run.poll()
    run._batch_written(BatchReport(1, Counts(1, 1), 0.1, {}))
    run.poll()
    assert found == [1, 1]


def test_a_query_that_has_begun_again_is_well_when_it_has_waited_for_records(
    supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = supervise(Query(AWAY), Query(True, True))
    assert [run.poll() for _ in range(3)] == [True, True, True]
    assert run.activity() == f"restarting, because {AWAY.message}"
    monkeypatch.setattr(supervised, "_LEADER_CHECK_SECONDS", -1.0)
    run.poll()
    assert run.activity() is None


def test_a_stop_ends_the_waiting(supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    run, begun = supervise(Query(AWAY))
    monkeypatch.setattr(supervised, "delay", lambda *_: 50.0)
    assert run.poll() is True
    assert run.activity() == f"waiting to retry, because {AWAY.message}"
    run.stop()
    assert run.poll() is False
    assert len(begun) == 1


def test_a_failure_after_a_stop_is_told_and_not_tried_again(supervise: Callable[..., Any]) -> None:
    run, begun = supervise(Query(AWAY))
    run.stop()
    with pytest.raises(TransientFailureError):
        run.poll()
    assert len(begun) == 1


def test_an_unmapped_leader_ends_the_run_instead_of_another_attempt(
    supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = supervise(Query(AWAY))
    unmapped = UnmappedEndpointError("10.0.0.9:9092", "10.0.0.9:9092 = HOST:PORT")

    def look(_: SupervisedRun) -> None:
        raise unmapped

    monkeypatch.setattr(SupervisedRun, "_check_leaders", look)
    with pytest.raises(UnmappedEndpointError):
        run.poll()


def test_the_leaders_of_every_topic_are_looked_at_in_every_cluster_that_has_a_map(
    supervise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, moved = NodeEndpoint(1, Endpoint("kafka-1", 9092)), NodeEndpoint(2, Endpoint("kafka-2", 9092))
    leaders = {"orders": [known], "tags": [known], "dead": [known, moved]}
    away, hq = (Cluster(name, (), AddressMap.parse("kafka-1=gw")) for name in ("away", "hq"))
    topics = {"away": ("orders",), "direct": ("dead",), "hq": ("tags", "dead")}

    @contextmanager
    def open_admin(_: object, __: object, name: str) -> Iterator[Any]:
        if name == "away":
            raise NothingReachableError("away")
        yield SimpleNamespace(leaders=leaders.__getitem__)

    monkeypatch.setattr(supervised, "open_admin", open_admin)
    run, _ = supervise(Query(AWAY), Query(False))
    run._prepared = SimpleNamespace(clusters=(away, Cluster("direct", ()), hq), topics=topics)
    with pytest.raises(UnmappedEndpointError, match="kafka-2:9092"):
        run.poll()
    leaders["dead"].remove(moved)
    run._check_leaders()


def test_too_many_dead_letters_let_the_batch_end_and_are_the_error(supervise: Callable[..., Any]) -> None:
    run, (query,) = supervise(Query(True, False))
    run._batch_written(BatchReport(0, Counts(8, 2, 6, 0, {"WrongType": 6}), 0.1, {}))
    assert run.poll() is True
    assert query.stopped
    with pytest.raises(ConfigError, match="6 of the last 8 records became dead letters"):
        run.poll()


@pytest.mark.parametrize(
    ("cause", "passes"),
    [
        ("TimeoutException: Topic tags not present in metadata after 60000 ms.", True),
        ("NotEnoughReplicasException: Messages are rejected since there are fewer in-sync replicas", True),
        ("DisconnectException: null", True),
        ("NotLeaderOrFollowerException: For requests intended only for the leader", True),
        ("RegistryNotAvailableException: the schema registry http://registry:8081 cannot be used", True),
        ("RegistryException: the schema registry http://registry:8081 cannot be used: HTTP status 401", False),
        ("TopicAuthorizationException: Not authorized to access topics: [tags]", False),
        ("SaslAuthenticationException: Authentication failed", False),
        ("RecordTooLargeException: The message is too large", False),
        ("UnknownTopicOrPartitionException: This server does not host this topic-partition.", False),
        ("OffsetOutOfRangeException: Fetch position is out of range", False),
        ("IllegalStateException: TimeoutException", False),
    ],
)
def test_what_may_pass(monkeypatch: pytest.MonkeyPatch, cause: str, passes: bool) -> None:
    monkeypatch.setattr("brokernat.pipelines.query.root_cause", lambda _: cause)
    assert isinstance(query_failure(ValueError()), TransientFailureError) is passes


@pytest.mark.parametrize(
    ("batches", "exceeded"),
    [
        ([], False),
        # Certain before a hundred records have come: at most five of them may be.
        ([(6, 6)], True),
        ([(5, 5)], False),
        ([(1000, 50)], False),
        ([(1000, 51)], True),
        # The first batch is older than the last hundred records.
        ([(50, 5), (60, 0), (60, 5)], False),
        ([(10, 5), (100, 5)], False),
        ([(50, 5), (40, 0), (5, 1)], True),
    ],
)
def test_the_share_of_the_last_records(batches: list[tuple[int, int]], exceeded: bool) -> None:
    limit = DeadLetterLimit.of("5% of 100")
    for received, dead in batches:
        limit.add(Counts(received, received - dead, dead))
    assert limit.is_exceeded is exceeded


def test_a_check_reads_no_batches_which_another_thread_adds() -> None:
    """Spark's callback adds a batch while the run checks the limit."""

    class Unreadable(deque[Counts]):
        def __iter__(self) -> Iterator[Counts]:
            raise RuntimeError("deque mutated during iteration")

    limit = DeadLetterLimit.of("5% of 4")
    limit._window = Unreadable()
    for cause in ("Tombstone", "WrongType", "WrongType"):
        limit.add(Counts(2, 1, 1, 0, {cause: 1}))
    assert limit.is_exceeded
    assert limit.error("tags").message.startswith("2 of the last 4 records became dead letters (WrongType 2);")


def test_the_error_names_the_causes() -> None:
    limit = DeadLetterLimit.of("0.5% of 10")
    limit.add(Counts(9, 6, 3, 0, {"Tombstone": 1, "WrongType": 2}))
    error = limit.error("tags")
    assert error.message == (
        "3 of the last 9 records became dead letters (WrongType 2, Tombstone 1); `dead_letter_limit` is 0.5% of 10"
    )
    assert "`brokernat pipeline replay tags`" in (error.hint or "")
