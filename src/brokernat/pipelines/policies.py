"""How a run handles failures: the table of docs/reference/policies.md.

Each row has a test on real brokers, named in `tests/unit/pipelines/test_policies.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

_AGAIN = (
    "requests by Kafka's client (`delivery.timeout.ms`), tasks by Spark, then the query from its checkpoint: "
    "after 1 s, 2 s … 60 s, minus a random part of up to a half"
)
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Policy:
    """One case. `stops` has the exit code in brackets; `alerts` are names of `examples/operating/alerts.yaml`."""

    name: str
    case: str
    stops: str
    retried: str
    alerts: tuple[str, ...]
    to_do: str


POLICIES = (
    Policy(
        "brokers-away",
        "brokers of the source or the sink do not answer, or reject requests temporarily (too few in-sync replicas)",
        "the run (6) after `retry_for`; the batch is not committed",
        _AGAIN,
        ("QueryFails", "PipelineUnhealthy", "PipelineFallsBehind"),
        "fix the brokers: the run continues by itself",
    ),
    Policy(
        "leader-unmapped",
        "the leader of a partition moves to a broker without a rule",
        "the run (5), which prints the rule; the batch is not committed",
        "connections by Kafka's client; the leaders are checked after 30 s without progress",
        ("PipelineAway", "PipelineRestarts"),
        "add the rule, start again",
    ),
    Policy(
        "right-missing",
        "the user lacks a permission on a topic",
        "the run does not start (5); while it runs, it ends (6)",
        _NOTHING,
        ("PipelineAway", "PipelineRestarts"),
        "`pipeline check` prints the command that grants it",
    ),
    Policy(
        "record-too-large",
        "a tag or a dead letter is too large for the sink",
        "the run (6), which names the records; the batch is not committed",
        _NOTHING,
        ("PipelineAway", "PipelineRestarts"),
        "raise the limits or make the tag smaller",
    ),
    Policy(
        "retention-passed",
        "the source has removed records before they were read",
        "the run (6); no record is skipped",
        _NOTHING,
        ("PipelineFallsBehind", "PipelineAway"),
        "move the checkpoint away, `pipeline reconcile --propose-offsets --write`, start again",
    ),
    Policy(
        "topic-removed",
        "a topic of the source is deleted",
        "the run (6); `check` names the topic (5)",
        _NOTHING,
        ("PipelineAway", "PipelineRestarts"),
        "create it again, and set another `checkpoint`",
    ),
    Policy(
        "topic-made-again",
        "a topic of the source is deleted and created again",
        "the run does not start (2)",
        _NOTHING,
        ("PipelineAway",),
        "another `checkpoint`: the offsets belong to deleted records",
    ),
    Policy(
        "partition-added",
        "a topic of the source gets partitions",
        _NOTHING,
        _NOTHING,
        (),
        "nothing: they are read from their beginning, without a restart",
    ),
    Policy(
        "poison",
        "a record cannot be decoded or lacks its reference",
        "nothing: it becomes a dead letter",
        _NOTHING,
        ("DeadLetters",),
        "fix the cause, then `pipeline replay`",
    ),
    Policy(
        "poison-above-limit",
        "more records become dead letters than `dead_letter_limit` allows",
        "the run (2), with the causes, when its batch or the next has ended; they are committed",
        _NOTHING,
        ("DeadLetters", "PipelineAway"),
        "fix the cause, start again, then `pipeline replay`",
    ),
    Policy(
        "reference-broken",
        "a reference is incomplete, unreadable or missing; its topic or database is unavailable or rejects the login",
        "nothing: the last good version stays in use, with a warning. Without one the run does not start (2)",
        "its source is checked again when `refresh` is due",
        ("ReferenceUnusable", "ReferenceOld"),
        "write the reference again, or make its source reachable",
    ),
    Policy(
        "reference-stale",
        "a reference is older than its `max_age`",
        "`stale: fail`: the run (2); nothing of the batch is written. `stale: warn`: nothing",
        _NOTHING,
        ("ReferenceUnusable", "ReferenceOld", "PipelineAway"),
        "write the reference again or make its source reachable, then start again",
    ),
    Policy(
        "counts-differ",
        "*in = tags + dead letters + filtered* is not true, for example because a transform multiplies rows",
        "the run (6); the batch is not committed, an epoch of `mode: realtime` is",
        _NOTHING,
        ("PipelineAway", "PipelineRestarts"),
        "fix the transform",
    ),
    Policy(
        "killed",
        "the process, its JVM or an executor is killed",
        "the process; an executor's tasks run elsewhere",
        "the batch by the next start: copies carry the same `brokernat-src`",
        ("PipelineRestarts",),
        "nothing: a supervisor starts it again",
    ),
    Policy(
        "checkpoint-lost",
        "the checkpoint is lost",
        _NOTHING,
        _NOTHING,
        (),
        "`pipeline reconcile --propose-offsets --write` before the next start",
    ),
)
