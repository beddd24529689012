"""What a call of `logger.info` costs the thread that makes it: KafkaHandler against the standard QueueHandler.

Both have work going on behind the call: the queue's listener formats and writes to a file, the handler spools and sends
to a broker. Calls come in bursts with pauses, as programs log, so that a thread that holds the interpreter shows.
"""

import logging
import logging.handlers
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median, quantiles

from bench.ratios import in_turns
from bench.report import say, verdict

from brokernat.shipping import KafkaHandler
from brokernat.testbed import RunningCluster

GOAL = 1.5
_BURSTS, _BURST, _PAUSE = 400, 25, 0.002


def measure(work: Path, cluster: RunningCluster, rounds: int) -> Iterator[bool]:
    """Median and 99th percentile, as ratios."""
    cluster.create_topic("calls", partitions=1)
    spans: dict[str, list[list[int]]] = {"queue": [], "kafka": []}

    def run(side: str) -> float:
        log = logging.getLogger(f"bench.{side}")
        log.propagate = False
        log.setLevel(logging.INFO)
        with _queue(work) if side == "queue" else _kafka(work, cluster) as handler:
            log.addHandler(handler)
            _calls(log)
            spans[side].append(_calls(log))
            log.removeHandler(handler)
        return 0.0

    for _ in in_turns([lambda: run("queue"), lambda: run("kafka")], rounds):
        pass
    for name, of in (("median", median), ("p99", lambda values: quantiles(values, n=100)[98])):
        kafka, baseline = ([of(values) for values in spans[side]] for side in ("kafka", "queue"))
        ratio = median(mine / other for mine, other in zip(kafka, baseline, strict=True))
        shown = f"{ratio:.2f} ({fmean(kafka) / 1000:.1f} us, QueueHandler {fmean(baseline) / 1000:.1f} us)"
        yield verdict(f"call of logger.info, {name} / QueueHandler", shown, f"<= {GOAL}", ratio <= GOAL)
    say(f"     {rounds} rounds of {_BURSTS * _BURST} calls for each side, in turns")


def _calls(log: logging.Logger) -> list[int]:
    spans = []
    for burst in range(_BURSTS):
        for number in range(_BURST):
            start = time.perf_counter_ns()
            log.info("order %d of customer %s was paid with %s", number, "c-1234", burst)
            spans.append(time.perf_counter_ns() - start)
        time.sleep(_PAUSE)
    return spans


@contextmanager
def _queue(work: Path) -> Iterator[logging.Handler]:
    records: queue.Queue[logging.LogRecord] = queue.Queue(-1)
    file = logging.FileHandler(work / "calls.log")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    listener = logging.handlers.QueueListener(records, file)
    listener.start()
    try:
        yield logging.handlers.QueueHandler(records)
    finally:
        listener.stop()
        file.close()


@contextmanager
def _kafka(work: Path, cluster: RunningCluster) -> Iterator[logging.Handler]:
    handler = KafkaHandler(cluster.cluster, "calls", work / "calls", close_timeout=30)
    try:
        yield handler
    finally:
        refused = handler.status().refused
        handler.close()
        assert not refused, f"{refused} records were refused: the calls cost less than they should"
