"""Writes the pages of this folder from the code: `.venv/bin/python docs/reference/generate.py`.

Each page is what code that is in use says (the model, the tables of faults, lints and exit codes, the checks of the
doctor), so a page cannot be older than the program; `tests/cli/test_reference.py` compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import code_pages
import log_lines
import versions_page

from brokernat.address import lint
from brokernat.address.faults import HINTS
from brokernat.cli.exit_codes import TABLE
from brokernat.config.model import json_schema
from brokernat.doctor.reports.json_v1 import schema_v1
from brokernat.pipelines.checkpoint.definition import CHANGES
from brokernat.pipelines.policies import POLICIES
from brokernat.proxy.metrics import described
from brokernat.wire.api import APIS

FOLDER = Path(__file__).parent
MADE = "<!-- Made by generate.py. Change the code instead. -->\n\n"


def pages() -> dict[str, str]:
    """File name to content."""
    return {
        "brokernat.schema.json": json_schema(),
        "configuration.md": _configuration(),
        "address-map.md": _address_map(),
        "exit-codes.md": _exit_codes(),
        "policies.md": _policies(),
        "proxy.md": _proxy(),
        "doctor-v1.schema.json": schema_v1(),
        "log-lines.md": MADE + log_lines.page(),
        "versions.md": MADE + versions_page.page(),
        **{f"codes/{name}": MADE + text for name, text in code_pages.pages().items()},
    }


def _exit_codes() -> str:
    rows = "".join(f"| {code} | {meaning} |\n" for code, meaning in TABLE.items())
    return f"{MADE}# Exit codes\n\nOne table for all commands.\n\n| code | meaning |\n|---|---|\n{rows}"


def _policies() -> str:
    rows = "".join(
        f"| {each.case} | {each.stops} | {each.retried} | {', '.join(each.alerts)} | {each.to_do} |\n"
        for each in POLICIES
    )
    changes = "".join(f"| {each.what} | {each.meaning} | {each.consequence} |\n" for each in CHANGES)
    return (
        f"{MADE}# What a pipeline does when something goes wrong\n\n"
        "When `brokernat pipeline run` stops, what it retries, which alert of\n"
        "[alerts.yaml](../../examples/operating/alerts.yaml) fires, and what a person has to do. Exit codes are in\n"
        "brackets. A process that has ended is `PipelineAway`; one that a supervisor starts again and again is\n"
        "`PipelineRestarts`. The result for each record is in [delivery](../concepts/delivery.md).\n\n"
        "| case | what stops | what is retried | alert | what to do |\n|---|---|---|---|---|\n"
        f"{rows}\n"
        "## What a change means for the checkpoint\n\n"
        "`pipeline check` and `run` print the changes since the last start. A newer brokernat, a newer Spark and\n"
        "all that is not in the table leave the checkpoint as it is.\n\n"
        f"| change | the checkpoint is | why |\n|---|---|---|\n{changes}"
    )


def _proxy() -> str:
    text = (FOLDER / "proxy.part.md").read_text("utf-8")
    rows = "".join(
        f"| {key} | {api.name} | {api.highest if api.highest >= 0 else 'none'} | {api.reason} |\n"
        for key, api in sorted(APIS.items())
    )
    series = "".join(f"| `{name}` | {kind} | {meaning} |\n" for name, kind, meaning in described())
    return (
        f"{MADE}{text}\n## The requests that pass\n\n"
        f"| key | request | newest version | why not a newer one |\n|---|---|---|---|\n{rows}\n"
        f"## Metrics\n\n`--metrics [HOST:]PORT` serves `http://HOST:PORT/metrics`, the sum over all workers.\n\n"
        f"| series | kind | meaning |\n|---|---|---|\n{series}"
    )


def _address_map() -> str:
    notation = (FOLDER / "notation.part.md").read_text("utf-8")
    faults = "".join(f"| `{kind}` | {hint} |\n" for kind, hint in HINTS.items())
    doc = __import__(lint.__module__, fromlist=["__doc__"]).__doc__ or ""
    doubts = "\n".join(line for line in doc.splitlines() if line.startswith("|"))
    return (
        f"{MADE}{notation}\n"
        "## Errors in a rule\n\n"
        f"All implementations report the same kinds.\n\n| kind | what to do |\n|---|---|\n{faults}\n"
        f"## What `brokernat map check` finds\n\n{doubts}\n"
    )


def _configuration() -> str:
    schema: dict[str, Any] = json.loads(json_schema())
    sections = [_section("The file", schema)]
    sections += [_section(name, definition) for name, definition in _by_use(schema)]
    head = (
        "# `brokernat.yaml`\n\n"
        "YAML 1.2. `brokernat init` writes a file to start from, `brokernat config check` reports every problem at\n"
        "once, and editors complete and check it with [the schema](brokernat.schema.json).\n"
        "Relative paths start from the folder of the file, those of trust stores and key stores in `client` too.\n"
        "A path inside `sasl.jaas.config` stays as it is written.\n\n"
        "A command reads the file that `--config` names, else the one that the environment variable\n"
        "`BROKERNAT_CONFIG` names, else `brokernat.yaml` in the current folder.\n"
    )
    return MADE + head + "".join(sections)


def _by_use(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The definitions in the order in which the file names them."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop(0).get("properties", {})):
            if name not in found:
                found[name] = schema["$defs"][name]
                waiting.append(found[name])
    return list(found.items())


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for item in node for name in _references(item)]
    if not isinstance(node, dict):
        return []
    here = [node["$ref"].rpartition("/")[2]] if "$ref" in node else []
    return here + [name for value in node.values() for name in _references(value)]


def _section(name: str, definition: dict[str, Any]) -> str:
    required = definition.get("required", [])
    rows = "".join(
        f"| `{key}` | {_type(value)} | {'required' if key in required else _default(value)} | "
        f"{value.get('description') or _see(value)} |\n"
        for key, value in definition["properties"].items()
    )
    return f"\n## {name}\n\n{definition['description']}\n\n| key | value | default | |\n|---|---|---|---|\n{rows}"


def _see(value: dict[str, Any]) -> str:
    return f"See {', '.join(f'[{name}](#{name.lower()})' for name in _references(value))}."


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return f"[{value['$ref'].rpartition('/')[2]}](#{value['$ref'].rpartition('/')[2].lower()})"
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        return " or ".join(_type(option) for option in value["anyOf"] if option.get("type") != "null")
    kinds = value["type"] if isinstance(value["type"], list) else [value["type"]]
    match next(kind for kind in kinds if kind != "null"):
        case "array":
            return f"list of {_type(value['items'])}"
        case "object":
            return f"name: {_type(value['additionalProperties'])}"
        case kind:
            names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "boolean"}
            return " or ".join(names[kind] for kind in kinds if kind in names) if len(kinds) > 1 else names[kind]


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    return f"`{default}`" if isinstance(default, str | int) else ""


if __name__ == "__main__":
    made = pages()
    for file, content in made.items():
        (FOLDER / file).write_text(content, "utf-8")
    for page in (FOLDER / "codes").glob("*.md"):
        if f"codes/{page.name}" not in made:
            page.unlink()
