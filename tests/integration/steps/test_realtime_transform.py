"""The steps of `mode: realtime` on frames made by hand: one row in, at most one row out, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.steps.test_plan import customers, leaving, order, plan

from brokernat.errors import ConfigError
from brokernat.pipelines.realtime import outgoing
from brokernat.pipelines.steps.transform import Transform, TransformError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def tag(records: DataFrame) -> DataFrame:
    """Every kind of step: what a filter takes out must not meet the division, which is an error."""
    from pyspark.sql import functions as F  # noqa: N812

    named = records.alias("r").where("r.amount <> 0").withColumn("share", 3 / F.col("r.amount"))
    return named.withColumnRenamed("name", "customer").fillna({"segment": "none"}).drop("at").where("share < 3")


@pytest.mark.parametrize("transform", [None, tag])
def test_tags_and_dead_letters_are_those_of_a_micro_batch(
    spark: SparkSession, envelopes: Callable[..., DataFrame], transform: Callable[[DataFrame], DataFrame] | None
) -> None:
    amounts = (1.5, 0, 0.25, 2, -1)
    values = [*(order(n, "c2", amount=amount) for n, amount in enumerate(amounts)), "{", None, order(9, "nobody")]
    envelope, steps = envelopes(values, headers=[("trace", b"t")]), plan(transform)
    records = steps.decode_and_enrich(envelope, [customers(spark)])
    expected = steps.tags(steps.transformed(records)).unionByName(steps.dead_letters(records))

    found = leaving(outgoing(steps, envelope, [customers(spark)]))

    by_source = {_source(row): row for row in found}
    assert len(by_source) == len(found)
    assert by_source == {_source(row): row for row in leaving(expected)}
    assert sum(row["topic"] == "tags.dead" for row in found) == 3
    assert {json.loads(row["value"]).get("segment") for row in found if row["topic"] == "tags"} == (
        {"none"} if transform else {None}
    )


def _source(row: dict[str, Any]) -> str:
    return str(dict(row["headers"])["brokernat-src"])


def joined(records: DataFrame) -> DataFrame:
    return records.join(records.sparkSession.createDataFrame([("o1", 1)], "order_id STRING, rank INT"), "order_id")


def functions(records: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import StringType

    def shout(text: str) -> str:
        return text.upper()

    return records.where(F.udf(shout, StringType(), useArrow=False)("order_id") == "O1").select(
        "brokernat_src", F.explode(F.array("at"))
    )


@pytest.mark.parametrize(
    ("transform", "found"),
    [
        (joined, ["a join"]),
        (functions, ["a function that makes several rows of one, such as explode", "the Python function `shout`"]),
        (lambda records: records.groupBy("brokernat_src").count(), ["an aggregation"]),
        (lambda records: records.dropDuplicates(["order_id"]), ["dropDuplicates, which needs state"]),
        (lambda records: records.distinct(), ["dropDuplicates, which needs state"]),
        (lambda records: records.union(records), ["a union"]),
        (lambda records: records.orderBy("at"), ["a sort"]),
        (lambda records: records.limit(1), ["a limit"]),
        (lambda records: records.selectExpr("*", "rank() over (order by at) as rank"), ["a window function"]),
        (lambda records: records.where("amount > (select 1)"), ["a subquery"]),
        (lambda records: records.repartition(3), ["the operator Repartition"]),
        (
            lambda records: records.withColumn(
                "brokernat_src", records["brokernat_src"].withField("offset", records["brokernat_src.offset"])
            ),
            ["an expression for `brokernat_src`"],
        ),
    ],
)
def test_a_step_that_real_time_mode_does_not_run_is_refused_by_its_name(
    envelopes: Callable[..., DataFrame], transform: Callable[[DataFrame], DataFrame], found: list[str]
) -> None:
    steps = plan(transform)
    with pytest.raises(ConfigError) as refused:
        outgoing(steps, envelopes([]), [])
    messages = [problem.message for problem in refused.value.problems]
    assert messages == [f"transform `m:f` holds {what}, which `mode: realtime` does not run" for what in found]
    assert all(problem.hint for problem in refused.value.problems)


def test_a_transform_without_the_coordinates_is_refused_as_everywhere(envelopes: Callable[..., DataFrame]) -> None:
    steps = replace(plan(), transform=Transform("m:f", lambda records: records.select("order_id")))
    with pytest.raises(TransformError, match="lost the column `brokernat_src`"):
        outgoing(steps, envelopes([order(1)]), [])
