"""A session that proves one configuration after another: a line in names a file, a line out is the proof as JSON.

prover.py CONFIG [FILE ...]

Files may be words as well: `spark-submit` gives a Python program no input.
"""

import json
import sys
from dataclasses import asdict

from pyspark.sql import SparkSession

from brokernat.clients.spark import configure, prove
from brokernat.config import load
from brokernat.errors import ProofFailedError

EXECUTORS, PATIENCE = 2, 150


def main(file: str, *files: str) -> None:
    """Until the end of the files."""
    spark = configure(SparkSession.builder.appName("prover"), load(file).clusters).getOrCreate()
    for line in files or sys.stdin:
        proof = prove(spark, load(line.strip()).clusters, executors=EXECUTORS, timeout=PATIENCE)
        said: dict[str, object] = {"message": None, "hint": None}
        try:
            proof.raise_for_failures()
        except ProofFailedError as failed:
            said = {"message": str(failed), "hint": failed.hint}
        print(json.dumps({"rows": list(map(asdict, proof.rows)), "missing": proof.missing, **said}))  # noqa: T201
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
