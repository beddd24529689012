"""What the documents show as YAML is read, what they show as Python compiles, and what it imports of ours is there."""

from __future__ import annotations

import ast
import re
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from brokernat.config import load

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for glob in ("*.md", "docs/**/*.md", "examples/**/*.md") for page in ROOT.glob(glob))
CLUSTER = "clusters:\n  hq:\n    bootstrap_servers: gateway:9092\n"


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of every block in this language."""
    fenced = rf"^```{language}\n(.*?)^```"
    return [
        (str(page.relative_to(ROOT)), textwrap.dedent(text))
        for page in PAGES
        for text in re.findall(fenced, page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    ]


def whole_file(text: str) -> str:
    """A section that is shown alone, where it stands in the file."""
    text = re.sub(r"^# brokernat.yaml\n", "", text)
    match text.partition(":")[0]:
        case "address_map":
            return CLUSTER + textwrap.indent(text, "    ")
        case "shipping":
            return CLUSTER + text
        case _:
            return text


STARTS = re.compile(r"(# brokernat.yaml\n)?(clusters|address_map|shipping):")
FILES = [(page, text) for page, text in blocks("yaml") if STARTS.match(text)]
FILES += [(str(file.relative_to(ROOT)), file.read_text("utf-8")) for file in ROOT.glob("examples/*/brokernat.yaml")]
# What DESIGN shows are signatures.
PYTHON = [(page, text) for page, text in blocks("python") if page != "DESIGN.md"]


@pytest.mark.parametrize(("page", "text"), FILES, ids=[page for page, _ in FILES])
def test_a_file_that_is_shown_is_in_order(tmp_path: Path, page: str, text: str) -> None:
    (tmp_path / "brokernat.yaml").write_text(whole_file(text))
    assert load(tmp_path / "brokernat.yaml", resolve_secrets=False).clusters


@pytest.mark.parametrize(("page", "text"), PYTHON, ids=[page for page, _ in PYTHON])
def test_a_program_that_is_shown_compiles_and_finds_what_it_imports(page: str, text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("brokernat"):
            module = import_module(node.module or "")
            assert [name.name for name in node.names if not _importable(module.__name__, name.name)] == []


def _importable(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name) or bool(import_module(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False


def test_there_is_something_to_read() -> None:
    assert len(FILES) > 5
    assert len(PYTHON) > 5
