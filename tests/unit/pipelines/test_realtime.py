"""What an epoch comes to, by Spark's report of it; Real-Time Mode itself is in tests/integration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brokernat.errors import IncompleteError
from brokernat.pipelines.realtime import epoch_counts
from brokernat.pipelines.steps.counting import Counts


def report(written: int, received: int | None, **leaving: int) -> dict[str, Any]:
    """Spark's, as far as it is read: metrics as rows, none of a plan that was found empty."""
    found = {} if received is None else {"brokernat_received": {"rows": received}, "brokernat_leaving": leaving}
    metrics = {name: SimpleNamespace(asDict=lambda row=row: row) for name, row in found.items()}
    return {"batchId": 7, "observedMetrics": metrics, "sink": {"numOutputRows": written}}


def test_an_epoch_that_adds_up() -> None:
    counts = Counts(10, 6, 3, 1, {"Tombstone": 3})
    assert epoch_counts(report(9, 10, tags=6, filtered=1, Tombstone=3)) == counts
    # A sink that does not count.
    assert epoch_counts(report(-1, 10, tags=6, filtered=1, Tombstone=3)) == counts
    assert epoch_counts(report(0, None)) == Counts()


@pytest.mark.parametrize(
    ("written", "received"), [(9, 11), (9, 9), (8, 10), (10, 10), (0, 10)], ids=["lost", "made", "kept", "more", "none"]
)
def test_an_epoch_that_does_not_add_up_by_what_came_or_by_what_was_written(written: int, received: int) -> None:
    with pytest.raises(
        IncompleteError, match=rf"epoch 7: {received} records received, 10 processed, {written} written"
    ):
        epoch_counts(report(written, received, tags=6, filtered=1, Tombstone=3))
