"""When the query of a run ends, begins again or fails, and which batches it refuses; Spark is in tests/integration."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import StreamingQueryException

from brokernat.errors import BrokernatError, IncompleteError
from brokernat.pipelines.batch import StoppedError
from brokernat.pipelines.one_pass import ChangedReferenceError, OnePass
from brokernat.pipelines.pipeline import Run
from brokernat.pipelines.references.source import StaleReferenceError

TOO_LARGE = IncompleteError("a record is too large for the sink")


class Query:
    """A streaming query that is in the middle of so many polls of a batch; it fails where there is an error."""

    def __init__(self, busy: int = 0, error: str | None = None, message: str = "Processing new data") -> None:
        self.busy = busy
        self.message = message
        self.error = error
        self.stopped_while_busy: bool | None = None

    def awaitTermination(self, _: float) -> bool:  # noqa: N802
        if self.error is not None:
            raise StreamingQueryException(self.error)
        return False

    @property
    def status(self) -> dict[str, object]:
        self.busy -= 1
        return {"isTriggerActive": self.busy >= 0, "message": self.message}

    def stop(self) -> None:
        self.stopped_while_busy = self.busy >= 0


def run_of(
    *queries: Query, failure: BaseException | None = None, too_large: IncompleteError | None = None
) -> tuple[Run, list[Query]]:
    """The run, and the queries that it has not begun."""
    left = list(queries)
    one_pass = SimpleNamespace(
        stopping=threading.Event(),
        start=lambda *_: left.pop(0),
        ended=lambda: None,
        failure=failure,
        too_large=lambda _: too_large,
    )
    batches = SimpleNamespace(failure=None)
    return Run(cast("Any", one_pass), cast("Any", batches), lambda: cast("Any", None), lambda writer: writer), left


def test_a_stop_lets_the_batch_end() -> None:
    query = Query(busy=2)
    run, _ = run_of(query)
    run.stop()
    assert [run.poll() for _ in range(3)] == [True, True, False]
    assert query.stopped_while_busy is False


def test_a_stop_waits_for_no_offsets_of_the_source() -> None:
    run, _ = run_of(Query(busy=99, message="Getting offsets from KafkaV2[Subscribe[orders]]"))
    run.stop()
    assert run.poll() is False


def test_a_batch_that_refused_itself_after_a_stop_is_no_failure() -> None:
    run, _ = run_of(Query(error="StoppedError"), failure=StoppedError("a stop was requested"))
    assert run.poll() is False


def test_a_query_begins_again_with_a_changed_reference_and_with_nothing_else() -> None:
    run, left = run_of(Query(error="changed"), Query(), failure=ChangedReferenceError("customers"))
    assert run.poll() is True
    assert (run.poll(), left) == (True, [])


@pytest.mark.parametrize(
    ("failure", "too_large", "words"),
    [
        (StaleReferenceError("the reference is too old"), None, "the reference is too old"),
        (None, TOO_LARGE, "a record is too large for the sink"),
        (None, None, "the query failed: .*TimeoutException: no answer"),
    ],
)
def test_any_other_failure_is_raised(
    failure: BaseException | None, too_large: IncompleteError | None, words: str
) -> None:
    run, left = run_of(Query(error="TimeoutException: no answer"), Query(), failure=failure, too_large=too_large)
    with pytest.raises(BrokernatError, match=words):
        run.poll()
    assert len(left) == 1


class Reference:
    """A reference that has changed at these looks."""

    name = "customers"

    def __init__(self, *changed: bool, too_old: bool = False) -> None:
        self.changed = list(changed)
        self.too_old = too_old

    def has_changed(self, _: object) -> bool:
        return self.changed.pop(0)

    def check_age(self) -> None:
        if self.too_old:
            raise StaleReferenceError("too old")


def one_pass(*references: Reference) -> OnePass:
    on_batch: Callable[[object], None] = lambda _: None  # noqa: E731
    nothing = cast("Any", None)
    return OnePass(nothing, nothing, "c", "state", cast("Any", references), {}, {}, threading.Event(), on_batch)


def test_no_batch_begins_after_a_stop() -> None:
    told = one_pass(Reference())
    told.stopping.set()
    with pytest.raises(StoppedError):
        told.begins()
    assert isinstance(told.failure, StoppedError)


def test_a_changed_reference_refuses_a_batch_once_until_one_has_begun() -> None:
    told = one_pass(first := Reference(True, False, True), second := Reference(True, False))
    for _ in range(2):
        with pytest.raises(ChangedReferenceError):
            told.begins()
    # Both were looked at since the last batch: one that tells no version would refuse the same batch for ever.
    told.begins()
    assert (first.changed, second.changed) == ([False, True], [False])
    told.begins()
    with pytest.raises(ChangedReferenceError):
        told.begins()


def test_a_reference_that_is_too_old_refuses_the_batch_whether_or_not_it_has_changed() -> None:
    told = one_pass(Reference(False, too_old=True))
    with pytest.raises(StaleReferenceError):
        told.begins()
    told = one_pass(Reference(True, too_old=True))
    for expected in (ChangedReferenceError, StaleReferenceError):
        with pytest.raises(expected):
            told.begins()
