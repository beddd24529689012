"""Pipelines of a file in ONE session at once, each to its end, with a chosen loader of the agent.

    run_pipelines.py CONFIG LOADER NAME...

Prints one JSON line: the loader, and what each pipeline counted.
"""

import json
import sys
from collections.abc import Callable

from pyspark.sql import SparkSession

from brokernat.clients.spark import Loader, configure, prove
from brokernat.config import load
from brokernat.jvm import agent_jar
from brokernat.pipelines.batch import BatchReport
from brokernat.pipelines.pipeline import start
from brokernat.pipelines.prepared import Prepared
from brokernat.pipelines.steps.counting import Counts


def main(file: str, loader: str, *names: str) -> None:
    """Run them, and count."""
    config = load(file)
    builder = SparkSession.builder.appName("pipelines")
    agent_path = str(agent_jar()) if loader == Loader.JAVAAGENT else None
    spark = configure(builder, config.clusters, loader=Loader(loader), agent_path=agent_path).getOrCreate()
    prove(spark, config.clusters, timeout=180).raise_for_failures()
    counts = dict.fromkeys(names, Counts())
    runs = [start(spark, Prepared.of(config, name), _counter(counts, name), once=True) for name in names]
    while runs:
        # Each is asked in each turn, so that a failure of one is not hidden behind another that goes on.
        runs = [run for run in runs if run.poll()]
    known = {"loader": spark.conf.get("spark.brokernat.loader")}
    print(json.dumps(known | {name: str(count) for name, count in counts.items()}))  # noqa: T201
    spark.stop()


def _counter(counts: dict[str, Counts], name: str) -> Callable[[BatchReport], None]:
    def add(report: BatchReport) -> None:
        counts[name] += report.counts

    return add


if __name__ == "__main__":
    main(*sys.argv[1:])
