"""Runs that never were, for what shows them."""

from brokernat.clients.spark import Outcome, Proof, ProofRow
from brokernat.config.model import Pipeline
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.progress import Progress
from brokernat.pipelines.references.copies import ReferenceVersion
from brokernat.pipelines.status import RunStatus
from brokernat.pipelines.steps.counting import Counts

START = 1_760_000_000.0
MAP = "8f3a" * 16
PIPELINE = Pipeline.model_validate(
    {
        "name": "tags",
        "source": {"cluster": "hq", "topics": ["orders"]},
        "decode": {"format": "json", "schema": "id STRING"},
        "sink": {"cluster": "local", "topic": "tags", "dead_letters": "tags.dead"},
        "checkpoint": "state",
    }
)


def row(executor: str, node: int, outcome: Outcome = Outcome.PROVED) -> ProofRow:
    advertised, dialled = f"192.168.1.{22 + node}:9092", f"172.10.1.40:{9092 + node}"
    host = f"host-{executor}"
    return ProofRow(executor, host, "hq", node, advertised, dialled, outcome, agent="0.1.0", fingerprint=MAP)


PROOF = Proof(tuple(row(executor, node) for executor in ("driver", "1") for node in (1, 2, 3)))


def spark_report(batch: int, end: int, latest: int) -> dict[str, object]:
    source = {"endOffset": {"orders": {"0": end, "1": end}}, "latestOffset": {"orders": {"0": latest, "1": end}}}
    steps = {"addBatch": 1800, "commitOffsets": 12, "latestOffset": 40, "triggerExecution": 1900, "walCommit": 15}
    return {"batchId": batch, "sources": [source], "durationMs": steps}


def progress(batch: int, start: float = START) -> Progress:
    """After so many batches: each reads 100 records, 4 become dead letters."""
    counts = Counts(100, 90, 4, 6, {"MissingReference": 3, "WrongType": 1})
    report = BatchReport(batch, counts, 2.0, {"customers": ReferenceVersion("0f3b", start - 60)})
    done = Progress()
    for number in range(1, batch + 1):
        done = done.after(report).with_reports([spark_report(number, 50 * number, 50 * number + 7)])
    return done


def running(batches: int = 3, start: float = START) -> RunStatus:
    """A run that has just written its last batch; a batch takes ten seconds."""
    status = RunStatus.of(PIPELINE, start).proved(PROOF).started(2, start)
    for batch in range(batches + 1):
        status = status.followed(progress(batch, start), "Processing new data", start + 10 * batch)
    return status
