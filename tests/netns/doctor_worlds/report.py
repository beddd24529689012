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
    unmapped: str = "fail"
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
    def causes(self) -> list[dict[str, Any]]:
        """The root causes."""
        return list(self.said.get("root_causes", ()))

    @property
    def headline(self) -> str:
        """Their sentences."""
        return " ".join(each["sentence"] for each in self.causes)

    @property
    def codes(self) -> set[str]:
        """Their codes."""
        return {each["code"] for each in self.causes}


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
