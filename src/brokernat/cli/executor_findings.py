"""What Spark's JVMs see, for `doctor --on-executors` and `pipeline check`: asked here, judged by the doctor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from brokernat.cli import console
from brokernat.cli.spark_options import SparkOptions
from brokernat.cli.spark_session import user_session
from brokernat.clients.spark import Proof
from brokernat.config import Cluster
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import Finding


def spark_options(options: Mapping[str, Any], *, on_executors: bool) -> SparkOptions | None:
    """Spark's options of a command that starts Spark only when asked; None where it does not.

    Raises:
        click.UsageError: one of them is given and nothing would use it.
    """
    if on_executors:
        return SparkOptions(**options)
    context = click.get_current_context()
    for name in options:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"`--{name.replace('_', '-')}` belongs to `--on-executors`")
    return None


def with_executors(evidence: Evidence, cluster: Cluster, wanted: SparkOptions) -> Evidence:
    """The evidence and what each JVM of a Spark application saw of the cluster."""
    from brokernat.clients.spark import prove
    from brokernat.doctor.in_spark import executors_seen

    with user_session(f"doctor-{cluster.name}", [cluster], wanted) as spark:
        console.note("asking the driver and every executor to reach every broker")
        proof = prove(spark, [cluster], timeout=wanted.proof_timeout)
    return replace(evidence, executors=executors_seen(proof, cluster.name))


def executor_findings(proof: Proof, clusters: Iterable[Cluster]) -> list[tuple[str, Finding]]:
    """The findings of a proof alone, each with the name of its cluster."""
    from brokernat.doctor.in_spark import findings

    return [(cluster.name, finding) for cluster in clusters for finding in findings(proof, cluster)]


def report(found: Iterable[tuple[str, Finding]]) -> None:
    """On stderr, as every message: the fact, then what to do."""
    for cluster, finding in found:
        hint = f"\nhint: {'; '.join(finding.remedy.client)}" if finding.remedy.client else ""
        console.report(
            f"{finding.severity}: cluster {cluster}: {finding.subject} {finding.message} [{finding.code}]{hint}"
        )
