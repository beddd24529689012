"""A check is a function from evidence to findings, registered under a code.

Its docstring has the title, then the paragraphs `Cause:`, `What:`, `Why:` and `Remedy:`. They are the source of the
pages, reports and `brokernat explain CODE`. A check opens no connection or file, and refers to other checks only by
code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Self

from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding, Confidence, Failure, Remedy, Severity
from brokernat.errors import Location

_PARAGRAPH = re.compile(r"^\s*(Cause|What|Why|Remedy): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A bootstrap server or a node, under its name in reports, with the failure that stops clients there."""

    subject: str
    failure: Failure | None

    @property
    def works(self) -> bool:
        """Whether clients work there: nothing fails, or it is only a doubt."""
        return self.failure is None or self.failure.doubt

    @property
    def doubt(self) -> Failure | None:
        """The failure if it is only a doubt."""
        return self.failure if self.failure is not None and self.failure.doubt else None


def _requested(kind: str, evidence: Evidence, *, sent: bool = False) -> bool:
    """Whether the user requested a coordinator of this kind; with `sent`, whether the request was sent."""
    return any(each.kind == kind and not (sent and each.error == "not-asked") for each in evidence.coordinators)


class Need(StrEnum):
    """What a check needs in the evidence; the value completes the sentence `skipped: …`.

    `met` judges the evidence. `options` are those of the command that ask for it; reports print such needs in one line.
    """

    def __new__(cls, reason: str, met: Callable[[Evidence], bool], *options: str) -> Self:
        need = str.__new__(cls, reason)
        need._value_, need.met, need.options = reason, met, options
        return need

    met: Callable[[Evidence], bool]
    options: tuple[str, ...]

    NETWORK = "no bootstrap server was given", lambda evidence: bool(evidence.bootstraps)
    FILES = "no broker file was given", lambda evidence: bool(evidence.files), "--server-properties"
    METADATA = (
        "no bootstrap server returned the brokers to this client",
        lambda evidence: any(probe.answers for probe in evidence.bootstraps),
    )
    MAP = "there is no address map", lambda evidence: evidence.rules is not None
    PARTITIONS = "the cluster's partitions could not be read", lambda evidence: evidence.replicas is not None
    TOPICS = "no topic was named (`--topic`)", lambda evidence: bool(evidence.topics), "--topic"
    COORDINATORS = (
        "no coordinator was requested (`--group`, `--transactional-id`)",
        lambda evidence: bool(evidence.coordinators),
        "--group",
        "--transactional-id",
    )
    GROUPS = "no group was named (`--group`)", partial(_requested, "group"), "--group"
    OFFSETS_TOPIC = (
        "this user sees no `__consumer_offsets`, no reachable broker coordinates a group that this user may see, and a "
        "request for a coordinator would create the topic",
        partial(_requested, "group", sent=True),
    )
    TRANSACTIONS = (
        "no transactional id was named (`--transactional-id`)",
        partial(_requested, "transaction"),
        "--transactional-id",
    )
    TRANSACTIONS_TOPIC = (
        "this user sees no `__transaction_state`, no reachable broker coordinates the id, and a request for a "
        "coordinator would create the topic",
        partial(_requested, "transaction", sent=True),
    )
    EXECUTORS = (
        "no Spark executors were probed (`--on-executors`)",
        lambda evidence: bool(evidence.executors),
        "--on-executors",
    )


Finder = Callable[[Evidence], Iterator[CheckFinding]]


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `cause` is the report's sentence if the check finds the root cause.

    In it `{subjects}` are the subjects of the findings, `{messages}` are their messages, and `{reason}` is a colon and
    the messages, which the pages of codes leave out. `explains` are the codes of more general findings: if such a
    finding is about the same failures, or about no failure, it follows from this one. A `residual` check reports
    failures that no other finding explains. An `independent` check is a separate root cause even if others explain the
    same failures.
    """

    code: str
    title: str
    cause: str
    find: Finder
    what: str
    why: str
    remedy: str
    explains: frozenset[str] = frozenset()
    needs: tuple[Need, ...] = ()
    residual: bool = False
    independent: bool = False

    def findings(self, evidence: Evidence) -> Iterator[CheckFinding]:
        """The findings of the check, with its code."""
        return (replace(each, code=self.code) for each in self.find(evidence))


REGISTERED: dict[str, Check] = {}
"""Code to check. It is complete once `brokernat.doctor.checks` is imported."""


def check(
    code: str, *needs: Need, explains: Sequence[str] = (), residual: bool = False, independent: bool = False
) -> Callable[[Finder], Finder]:
    """Registers the function below as the check of a code."""

    def register(find: Finder) -> Finder:
        title, *parts = _PARAGRAPH.split(find.__doc__ or "")
        page = {name.lower(): " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)}
        if code in REGISTERED:
            raise ValueError(f"two checks have the code {code}")
        REGISTERED[code] = Check(
            code,
            title.strip().removesuffix("."),
            find=find,
            explains=frozenset(explains),
            needs=needs,
            residual=residual,
            independent=independent,
            **page,
        )
        return find

    return register


def finding(
    severity: Severity,
    subject: str | Place,
    message: str,
    seen: Sequence[str] = (),
    *,
    client: str | Sequence[str] = (),
    broker: str | Sequence[str] = (),
    rules: str | Sequence[str] = (),
    remedy: Remedy | None = None,
    explains: bool | Sequence[Failure | None] = True,
    follows: Sequence[Failure | None] = (),
    confidence: Confidence = Confidence.PROVEN,
    code: str = "",
) -> CheckFinding:
    """A finding of the check that yields it, which adds its code.

    Args:
        subject: what it is about. A finding about a place explains the failure there, unless `explains` is False.
        client: what to change on the client's side: one line or several.
        broker: the same on the brokers' side.
        rules: lines for the client's address map.
        remedy: all three at once.
        explains: the failures that it explains.
    """
    if isinstance(explains, bool):
        explains = (subject.failure,) if explains and isinstance(subject, Place) else ()
    if remedy is None:
        sides = ((side,) if isinstance(side, str) else tuple(side) for side in (client, broker, rules))
        remedy = Remedy(*sides)
    return CheckFinding(
        code,
        message,
        "; ".join(remedy.client) or None,
        Location(subject if isinstance(subject, str) else subject.subject),
        tuple(seen),
        severity,
        remedy=remedy,
        confidence=confidence,
        explains=tuple(each for each in explains if each is not None),
        follows=tuple(each for each in follows if each is not None),
    )


error = partial(finding, Severity.ERROR)
warning = partial(finding, Severity.WARNING)
info = partial(finding, Severity.INFO)
