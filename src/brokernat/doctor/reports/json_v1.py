"""`--format json`, version 1: its shape, from which the JSON Schema and the reference page are made, and the diagnosis
filled into it.

Within a version keys are only added: a reader skips unknown keys, and no key changes its meaning or is removed. So the
shape is separate from the program's own types; it is filled from their attributes of the same names.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from brokernat.doctor.broker_files.listeners import listener_table
from brokernat.doctor.checks import catalogue, page
from brokernat.doctor.diagnosis import Diagnosis
from brokernat.doctor.finding import CheckFinding
from brokernat.doctor.reports.summary import verdict, worst

State = Literal["ok", "doubtful", "broken"]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True, populate_by_name=True)


def _from(attribute: str, description: str | None = None) -> Any:
    """A field whose attribute has another name."""
    return Field(description=description, validation_alias=AliasPath(*attribute.split(".")))


class RootCause(_Shape):
    """A finding that explains other findings."""

    code: str = Field(description="The code of the check.")
    sentence: str = Field(description="The cause in one sentence, with what it concerns.")
    doc: str = Field(description="The page of the code.")


class RemedyV1(_Shape):
    """The fix on each side; one side is enough."""

    client: tuple[str, ...] = Field(description="What to do on the client's side.")
    broker: tuple[str, ...] = Field(description="What to do on the brokers' side.")
    rules: tuple[str, ...] = Field(description="Lines `advertised = reachable` for the client's address map.")


class FindingV1(_Shape):
    """One finding about one subject."""

    code: str = Field(description="The code of the check; never used for something else.")
    title: str = Field(description="The check's title.")
    severity: Literal["error", "warning", "info"] = Field(
        description="Clients fail with an error and may fail with a warning; an info explains."
    )
    confidence: Literal["proven", "likely"] = Field(
        description="`proven` by the evidence, or its likeliest explanation."
    )
    subject: str = Field(description="A bootstrap server, a node, a rule, a file, or the cluster.")
    message: str = Field(description="What is wrong with the subject.")
    evidence: tuple[str, ...] = Field(description="What was observed; messages of brokers and libraries are quoted.")
    because: tuple[str, ...] = Field(description="Codes of findings that this one follows from.")
    remedy: RemedyV1
    doc: str = Field(description="The page of the code.")


class SkippedV1(_Shape):
    """A check that was not run."""

    code: str
    title: str
    reason: str = Field(description="What the check lacks.")


class BootstrapServerV1(_Shape):
    """A bootstrap server, and what a client gets from it."""

    endpoint: str = Field(description="As it is configured.")
    dialled: str = Field(description="What a client dials: the same, or the target of a rule of the address map.")
    state: State = _from("reach.state")
    words: str = _from("reach.words", "`ok`, or what is wrong in a few words.")
    answering: str = Field(description="What answers there: `node 2`, `a broker`, `something else`, `nobody`.")
    brokers: int | None = _from("listed", "The number of brokers in its metadata; null where it returns none.")
    codes: tuple[str, ...] = Field(description="Codes of errors and warnings about it.")


class NodeV1(_Shape):
    """The connection to a broker."""

    node_id: int
    advertised: str = Field(description="The endpoint that the broker advertises, unchanged.")
    rule: str | None = Field(description="The rule of the address map that matches; null where none does.")
    dialled: str | None = Field(description="What a client dials; null where the address map refuses.")
    state: State
    words: str = _from("end.words", "`ok`, or what is wrong in a few words.")
    answering: str = Field(description="What answers there: `node 2`, `a broker`, `something else`, `nobody`.")
    codes: tuple[str, ...] = Field(description="Codes of errors and warnings about it.")


class ListenerV1(_Shape):
    """A listener in the settings of a bootstrap server's node, and whether this client reaches it."""

    node_id: int = _from("seen.node_id")
    name: str = _from("seen.name")
    endpoint: str = _from("seen.endpoint", "The endpoint that it advertises.")
    entered: tuple[str, ...] = _from("seen.entered", "The bootstrap servers that are connections to this listener.")
    state: State = _from("reach.state")
    words: str = _from("reach.words", "`ok`, or what is wrong in a few words.")


class ListenerPortV1(_Shape):
    """A port that a listener in a broker's file binds."""

    broker: str = _from("broker.file.name", "The file, with the service of a compose file.")
    node_id: int | None = _from("broker.node_id")
    host: str = _from("listener.host", "Empty for every address.")
    port: int = _from("listener.port")
    published: int | None = Field(description="The host's port for a container's.")


class AdvertisedEndpointV1(_Shape):
    """An endpoint that a broker's file advertises."""

    broker: str = _from("broker.file.name")
    node_id: int | None = _from("broker.node_id")
    host: str = _from("listener.host")
    port: int = _from("listener.port")
    where: Literal["anywhere", "same-machine", "same-network", "nowhere"] = _from(
        "listener.where", "From where it can be dialled, judged by its text."
    )


class ListenerInFilesV1(_Shape):
    """A listener name over all files: connections to these ports get these endpoints."""

    listener: str
    protocol: str | None = Field(description="Null where brokers differ or name none.")
    inter_broker: bool = Field(description="Whether it is the inter-broker listener.")
    comes_in_on: tuple[ListenerPortV1, ...] = _from("ports")
    is_told: tuple[AdvertisedEndpointV1, ...] = _from("endpoints")


class ExecutorNodeV1(_Shape):
    """A broker, as Kafka's own client reached it from a JVM of Spark."""

    node_id: int
    advertised: str
    dialled: str = Field(description="Empty where the address map refuses.")
    outcome: Literal["proved", "not-provable", "other-node", "unmapped", "unreachable", "failed"]
    detail: str


class ExecutorV1(_Shape):
    """A JVM of a Spark application."""

    executor: str = Field(description="`driver`, or Spark's id; empty for one that never registered.")
    host: str
    outcome: Literal["answered", "no-agent", "other-map", "failed", "silent", "not-registered"]
    detail: str
    agent: str | None = Field(description="The version of the agent it holds.")
    fingerprint: str | None = Field(description="SHA-256 of the map it holds.")
    nodes: tuple[ExecutorNodeV1, ...]


class ReportV1(_Shape):
    """What `brokernat doctor --format json` prints."""

    version: Literal[1]
    cluster: str = Field(description="The cluster's name in brokernat.yaml, `given` without the file.")
    taken_at: str = Field(description="When the probes ran, ISO 8601 with the offset.")
    status: Literal["ok", "warning", "error"] = Field(description="The highest severity found; infos count as ok.")
    verdict: str = Field(description="The status in half a sentence.")
    root_cause: RootCause | None = Field(description="The first of `root_causes`.")
    root_causes: tuple[RootCause, ...] = Field(description="The smallest set that explains every failure.")
    findings: tuple[FindingV1, ...] = Field(description="The highest severity first.")
    suppressed: tuple[FindingV1, ...] = Field(
        description="Findings that `--suppress` names; they change neither status nor root cause."
    )
    passed: tuple[str, ...] = Field(description="Codes of checks that found nothing.")
    skipped: tuple[SkippedV1, ...]
    bootstrap_servers: tuple[BootstrapServerV1, ...] = Field(description="In the order of the configuration.")
    nodes: tuple[NodeV1, ...] = Field(description="Every broker that a bootstrap server returned, by node id.")
    listeners: tuple[ListenerV1, ...] = Field(description="Empty where no broker's settings could be read.")
    listeners_in_files: tuple[ListenerInFilesV1, ...] = Field(description="Empty without `--server-properties`.")
    executors: tuple[ExecutorV1, ...] = Field(description="Empty without `--on-executors`.")


def schema_v1() -> str:
    """The JSON Schema (draft 2020-12) as text with a line end."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ReportV1.model_json_schema(mode="serialization"),
        "title": "brokernat doctor, version 1",
    }
    return json.dumps(schema, indent=2) + "\n"


def json_v1(diagnosis: Diagnosis) -> dict[str, Any]:
    """What `--format json` prints."""
    gravest = worst(diagnosis)
    causes = tuple(RootCause(code=each.code, sentence=each.sentence, doc=page(each.code)) for each in diagnosis.causes)
    report = ReportV1(
        version=1,
        cluster=diagnosis.evidence.cluster,
        taken_at=diagnosis.evidence.taken_at,
        status="ok" if gravest is None else gravest.value,
        verdict=verdict(diagnosis),
        root_cause=causes[0] if causes else None,
        root_causes=causes,
        findings=tuple(map(_shaped, diagnosis.findings)),
        suppressed=tuple(map(_shaped, diagnosis.suppressed)),
        passed=diagnosis.passed,
        skipped=tuple(map(SkippedV1.model_validate, diagnosis.skipped)),
        bootstrap_servers=tuple(map(BootstrapServerV1.model_validate, diagnosis.entrances)),
        nodes=tuple(map(NodeV1.model_validate, diagnosis.routes)),
        listeners=tuple(map(ListenerV1.model_validate, diagnosis.listeners)),
        listeners_in_files=tuple(map(ListenerInFilesV1.model_validate, listener_table(diagnosis.evidence))),
        executors=tuple(map(ExecutorV1.model_validate, diagnosis.evidence.executors)),
    )
    return report.model_dump(mode="json")


def finding_v1(finding: CheckFinding) -> dict[str, Any]:
    """One finding, wherever a command prints one."""
    return _shaped(finding).model_dump(mode="json")


def _shaped(finding: CheckFinding) -> FindingV1:
    return FindingV1(
        code=finding.code,
        title=catalogue()[finding.code].title,
        severity=finding.severity.value,
        confidence=finding.confidence.value,
        subject=finding.subject,
        message=finding.message,
        evidence=finding.details,
        because=finding.because,
        remedy=RemedyV1.model_validate(finding.remedy),
        doc=page(finding.code),
    )
