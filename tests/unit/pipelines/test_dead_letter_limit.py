import pytest

from brokernat.pipelines.dead_letter_limit import DeadLetterLimit
from brokernat.pipelines.steps.counting import Counts


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


def test_the_error_names_the_causes() -> None:
    limit = DeadLetterLimit.of("0.5% of 10")
    limit.add(Counts(9, 6, 3, 0, {"Tombstone": 1, "WrongType": 2}))
    error = limit.error("tags")
    assert error.message == (
        "3 of the last 9 records became dead letters (WrongType 2, Tombstone 1); `dead_letter_limit` is 0.5% of 10"
    )
    assert "`brokernat pipeline replay tags`" in (error.hint or "")
