"""Lines of Spark's Kafka source and sink. The client inside is Kafka's Java client, whose lines are in `java_*.py`;
here are the words that Spark adds.

Some only wrap what the client said. They are explained where the client's own line is not there.
"""

from __future__ import annotations

from typing import Final

from brokernat.doctor.explaining.symptom import Family, Symptom, Telling, says

_PIPELINE = "brokernat pipeline check NAME"
_PROOF = "prove it on every executor: `brokernat pipeline check`, or `brokernat.clients.spark.prove`"

SYMPTOMS: Final = (
    Symptom(
        "spark-no-source",
        Family.SPARK,
        "the Kafka connector is not there",
        ("Failed to find data source: kafka",),
        r"Failed to find data source: kafka\b",
        says(
            "Spark has no Kafka connector: it is no part of PySpark.",
            "`brokernat.clients.spark.configure(builder, clusters)` adds the one that fits this Spark",
            then=_PIPELINE,
        ),
        Telling.FAULT,
    ),
    Symptom(
        "spark-offsets-attempt",
        Family.SPARK,
        "the driver gets no offsets",
        ("getting Kafka offsets",),
        r"Error in attempt (?P<attempt>\d+) getting Kafka offsets",
        says(
            "The driver asked for the topics' offsets in vain, {attempt} times so far. The reason is the client's, in "
            "the lines below.",
            "explain the lines below it",
            "BN302",
            "BN103",
            then=_PIPELINE,
        ),
        Telling.EFFECT,
    ),
    Symptom(
        "spark-fetch-timeout",
        Family.SPARK,
        "an executor gets no record from a leader",
        ("Cannot fetch record for offset",),
        r"Cannot fetch record for offset (?P<offset>\d+) in (?P<time>\d+) milliseconds",
        says(
            "The partition's leader told its offsets and sent no record in {time} ms (`kafkaConsumer.pollTimeoutMs`). "
            "It is slow, or the way to it lets small answers through and large ones not: a gateway that ends "
            "connections, packets larger than a tunnel takes.",
            "look at the leader's load; raise `kafkaConsumer.pollTimeoutMs`; " + _PROOF,
            "BN302",
            "BN305",
            then=_PIPELINE,
        ),
    ),
    Symptom(
        "spark-data-loss",
        Family.SPARK,
        "offsets of the checkpoint are not in the topic",
        ("may have been lost", "KAFKA_DATA_LOSS."),
        r"[Ss]ome data may have been lost because they are not available in Kafka any more|"
        r"KAFKA_DATA_LOSS\.(?!PARTITION_OFFSET_CHANGED)\w+",
        says(
            "The checkpoint's offsets are not in the topic: retention was shorter than the pause, the topic was made "
            "anew, or a bootstrap server or a rule leads to another cluster now.",
            "compare the cluster id with the one of the checkpoint's time before `failOnDataLoss` is set to false",
            "BN501",
            then=_PIPELINE,
        ),
        Telling.FAULT,
    ),
    Symptom(
        "spark-offset-changed",
        Family.SPARK,
        "a partition's offset went back",
        (" was changed from ",),
        r"[Pp]artition (?P<partition>\S+?)(?:'s)? offset was changed from (?P<before>\d+) to (?P<after>\d+)",
        says(
            "The checkpoint knows {partition} up to {before}, and the topic ends at {after} now. Offsets never go "
            "back: the topic was made anew, or a bootstrap server or a rule leads to another cluster.",
            "compare the cluster id with the one of the checkpoint's time before `failOnDataLoss` is set to false",
            "BN501",
            then=_PIPELINE,
        ),
        Telling.FAULT,
    ),
    Symptom(
        "spark-query-failed",
        Family.SPARK,
        "a query ended with an exception",
        ("terminated with e",),
        r"Query \S*\s?\[id = [\w-]+, runId = [\w-]+\] terminated with (?:exception|error)",
        says(
            "A streaming query ended; this line only says so.",
            "explain the last `Caused by:` below it, or the whole log",
            then=_PIPELINE,
        ),
        Telling.WRAPPER,
    ),
)
