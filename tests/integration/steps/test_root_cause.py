from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from brokernat.pipelines.root_cause import root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _boom(_: int) -> str:
    raise KeyError("boom")


def test_python_errors_keep_their_first_line() -> None:
    assert root_cause(ValueError("first\nsecond")) == "ValueError: first"


@pytest.mark.spark
def test_the_deepest_java_cause_in_one_line(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as caught:
        spark.range(1).select(F.lit(1) / F.col("id")).collect()
    found = root_cause(caught.value)
    assert "DIVIDE_BY_ZERO" in found
    assert "\n" not in found
    assert not found.startswith("org.apache")


@pytest.mark.spark
def test_an_error_inside_a_python_function_is_told_as_python_tells_it(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    with pytest.raises(Exception, match="boom") as caught:
        spark.range(1).select(F.udf(_boom, useArrow=False)("id")).collect()
    assert root_cause(caught.value) == "KeyError: 'boom'"


@pytest.mark.spark
def test_a_plan_that_is_refused(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="nope") as caught:
        spark.range(1).select("nope")
    assert root_cause(caught.value).startswith("AnalysisException: [UNRESOLVED_COLUMN")
