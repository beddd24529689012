"""The pages of docs/reference/codes: one for each check of the doctor, from its docstring, and their index."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from inspect import getsource, isfunction
from pathlib import Path
from textwrap import dedent

from brokernat.doctor.checks import CHECKS, Check, catalogue
from brokernat.doctor.finding import Severity

WORLDS = Path(__file__).parents[2] / "tests" / "integration" / "doctor" / "__snapshots__" / "test_worlds.ambr"
EXAMPLE = "## In a report"
AREAS = (
    ("BN001", "BN099", "The run itself"),
    ("BN101", "BN199", "Bootstrap servers"),
    ("BN201", "BN299", "What brokers advertise"),
    ("BN301", "BN399", "Reaching what is advertised"),
    ("BN401", "BN499", "TLS and login"),
    ("BN501", "BN599", "One cluster, one listener"),
    ("BN601", "BN612", "The address map, and which node answers"),
    ("BN613", "BN699", "Spark's executors"),
    ("BN701", "BN799", "Coordinators"),
    ("BN801", "BN810", "Clients"),
    ("BN811", "BN899", "The brokers' files"),
)


def pages() -> dict[str, str]:
    """File name to content."""
    return {"README.md": _index()} | {f"{check.code}.md": _code(check, catalogue()[check.code]) for check in CHECKS}


def _index() -> str:
    head = (
        "# Codes of `brokernat doctor`\n\n"
        "A code is never used for something else. `brokernat explain BN302` says the same where there is no network,\n"
        "`--suppress BN302` keeps a finding from counting, and [`--format json`](../doctor-v1.schema.json) names the\n"
        "code of each finding.\n"
    )
    severities = {check.code: _severities(check) for check in CHECKS}
    for first, last, heading in AREAS:
        mine = [entry for entry in catalogue().values() if first <= entry.code <= last]
        rows = "".join(f"| [{each.code}]({each.code}.md) | {each.title} | {severities[each.code]} |\n" for each in mine)
        head += f"\n## {heading}\n\n| code | | severity |\n|---|---|---|\n{rows}" if mine else ""
    return head


def _code(check: Check, entry: Check) -> str:
    sentence = check.cause.format(subjects="…", reason="", messages="…")
    skipped = "".join(f"\nSkipped where {need.value}.\n" for need in entry.needs)
    return (
        f"# {entry.code}: {entry.title}\n\n"
        f"Severity: {_severities(check)}. [All codes](README.md).\n\n"
        f"**What.** {_sentence(entry.what)}\n\n"
        f"**Why.** {_sentence(entry.why)}\n\n"
        f"**Remedy.** {_sentence(entry.remedy)}\n\n"
        f"As a root cause it reads: *{sentence}*\n{skipped}{_example(check.code)}"
    )


def _example(code: str) -> str:
    """A report in which it is the root cause: of real brokers, from the snapshots of the tests."""
    for world, report in _reports().items():
        root = next((part for part in report.split("\n\n") if part.startswith("root cause:")), "")
        if f"[{code}]" in root:
            return f"\n{EXAMPLE}\n\nFrom the test `{world}`:\n\n```text\n{report}\n```\n"
    return ""


@cache
def _reports() -> dict[str, str]:
    snapshots = re.findall(
        r"^# name: \w+\[([\w-]+)\]\n  '''\n(.*?)\n  '''$", WORLDS.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return {world: dedent(report) for world, report in snapshots}


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _severities(check: Check) -> str:
    """Those that the check names, or a function of its family that it calls; the gravest first."""
    family = vars(sys.modules[check.find.__module__])
    names, seen = {check.find.__name__}, set[str]()
    while names:
        made = getsource(family[names.pop()])
        nodes = list(ast.walk(ast.parse(made)))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        seen |= {name.lower() for name in attributes if name.isupper()}
        # Of a bootstrap server (`ProbedEndpoint.severity`) it is either.
        seen |= {Severity.ERROR, Severity.WARNING} if "severity" in attributes else set()
        called = {node.id for node in nodes if isinstance(node, ast.Name)} - seen
        names |= {name for name in called if isfunction(family.get(name)) and name.startswith("_")}
        seen |= called
    return ", ".join(severity for severity in Severity if severity in seen)
