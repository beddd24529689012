"""What is typed, and what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brokernat.address import Endpoint


@dataclass(frozen=True, slots=True)
class Client:
    """What is typed: bootstrap servers, map, properties of a `client:` section, further arguments."""

    servers: tuple[Endpoint, ...]
    rules: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    more: tuple[str, ...] = ()
    command: str = "doctor"


@dataclass(frozen=True)
class Report:
    """What a command printed."""

    exit_code: int
    seconds: float
    said: dict[str, Any]
    stderr: str

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The findings that stop clients."""
        return [each for each in self.said.get("findings", ()) if each["severity"] == "error"]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """The findings that may."""
        return [each for each in self.said.get("findings", ()) if each["severity"] == "warning"]

    @property
    def headline(self) -> str:
        """The sentences of the root causes."""
        causes = [self.said.get("root_cause"), *self.said.get("root_causes", ())]
        return " ".join(dict.fromkeys(each["sentence"] for each in causes if each))

    @property
    def code(self) -> str:
        """Of the (first) root cause, empty without one."""
        cause = self.said.get("root_cause")
        return str(cause["code"]) if cause else ""

    @property
    def leading(self) -> list[dict[str, Any]]:
        """The findings that are root causes."""
        causes = [self.said.get("root_cause"), *self.said.get("root_causes", ())]
        codes = {each["code"] for each in causes if each}
        return [each for each in self.said.get("findings", ()) if each["code"] in codes]


def words_of(findings: Sequence[dict[str, Any]], *, with_remedy: bool = True) -> str:
    """All text of findings, a line each."""
    lines = []
    for each in findings:
        lines += [f"{each['subject']}: {each['message']}", *each["evidence"]]
        if with_remedy:
            lines += remedies_of([each])
    return "\n".join(lines)


def remedies_of(findings: Sequence[dict[str, Any]]) -> list[str]:
    """All that is advised."""
    return [line for each in findings for side in ("client", "broker", "rules") for line in each["remedy"][side]]
