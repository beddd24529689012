"""`brokernat doctor`: what is wrong between here and every broker.

The cluster is one of the file, or given on the spot by `--bootstrap-server`. `--save` keeps what was seen, `--from`
makes the report of it elsewhere, without a network. With `--bootstrap-server` there is no login: credentials belong
into the file, where they can be references.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from brokernat.cli.cluster_choice import chosen_cluster
from brokernat.cli.doctor_report import listed_checks, report, report_options
from brokernat.cli.executor_findings import spark_options, with_executors
from brokernat.cli.extras import needing_kio
from brokernat.cli.looking import looking
from brokernat.cli.options import SECONDS, config_option, fail_on_option, format_option, token_command_option
from brokernat.cli.saved_evidence import read_evidence
from brokernat.cli.spark_options import with_spark
from brokernat.config import Cluster
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.suppressing import Suppression

_LONGEST = 2**15 - 1


def _sayable(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that Kafka's protocol can carry: UTF-8, and a length of two bytes."""
    for name in names:
        if len(name.encode(errors="replace")) > _LONGEST or name != name.encode(errors="replace").decode():
            raise click.BadParameter("no name that Kafka knows: it is too long, or no UTF-8 text")
    return names


@click.command()
@config_option
@click.option("--cluster", metavar="NAME", help="A cluster of the file; needed when it has several.")
@click.option(
    "--bootstrap-server", "servers", metavar="HOST:PORT", multiple=True, help="Instead of the file; repeatable."
)
@click.option("--map", "rules", metavar="RULES", help="The address map for --bootstrap-server; also `file:/path`.")
@click.option("--timeout", type=SECONDS, default=15, show_default=True, help="Seconds for everything.")
@click.option("--from", "source", metavar="FILE", type=click.Path(path_type=Path), help="Report on what --save kept.")
@click.option(
    "--server-properties",
    "broker_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A broker's file, or a compose file; repeatable. Alone, no network is asked.",
)
@click.option(
    "--group",
    "groups",
    metavar="GROUP",
    multiple=True,
    callback=_sayable,
    help="Also ask who coordinates it; repeatable.",
)
@click.option(
    "--transactional-id", "transactional_ids", metavar="ID", multiple=True, callback=_sayable, help="Likewise."
)
@token_command_option
@click.option("--on-executors", is_flag=True, help="Also ask the driver and every executor of a Spark application.")
@with_spark
@report_options
@fail_on_option
@format_option
def doctor(
    config_file: Path,
    cluster: str | None,
    servers: tuple[str, ...],
    rules: str | None,
    timeout: float,
    save: Path | None,
    source: Path | None,
    broker_files: tuple[Path, ...],
    groups: tuple[str, ...],
    transactional_ids: tuple[str, ...],
    token_command: str | None,
    on_executors: bool,
    html: Path | None,
    suppress: tuple[Suppression, ...],
    list_checks: bool,
    fail_on: str,
    output: str,
    **spark: Any,
) -> int:
    """Say what is wrong between here and every broker, prove it, and show what to change."""
    from brokernat.doctor.broker_files.opening import read_broker_files, without_network

    if list_checks:
        return listed_checks(output)
    if save is not None and save == html:
        raise click.UsageError("`--save` and `--html` name the same file")
    if source is not None and (cluster or servers or rules or on_executors):
        raise click.UsageError("`--from` excludes `--cluster`, `--bootstrap-server`, `--map` and `--on-executors`")
    if source is not None and (groups or transactional_ids or token_command):
        raise click.UsageError("`--from` excludes `--group`, `--transactional-id` and `--token-command`")
    wanted = spark_options(spark, on_executors=on_executors)
    files = read_broker_files(broker_files)
    if source:
        evidence = read_evidence(source)
    elif files and not (cluster or servers or rules or on_executors):
        evidence = without_network(files)
    else:
        looked_at = chosen_cluster(config_file, cluster, servers, rules)
        coordinators = {"groups": groups, "transactional_ids": transactional_ids}
        evidence = _collected(looked_at, timeout, token_command=token_command, **coordinators)
        if wanted is not None:
            evidence = with_executors(evidence, looked_at, wanted)
    if files:
        evidence = replace(evidence, files=files)
    return report(evidence, output=output, save=save, html=html, suppress=suppress, fail_on=fail_on)


def _collected(cluster: Cluster, timeout: float, **asked: Any) -> Evidence:
    with needing_kio("the doctor"):
        from brokernat.doctor.collecting import collect
    with looking("looking at the bootstrap servers and at what they advertise"):
        return collect(cluster, timeout, **asked)
