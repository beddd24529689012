"""Every link, heading and path that the documents name exists, and the documents keep the house's form."""

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from brokernat.doctor.explain.log import explain_log

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for glob in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/**/*.md") for page in ROOT.glob(glob)
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROOTS = ("src", "native", "tests", "bench", "docs", "examples", "tools", "requirements", ".ci")


def prose(page: Path) -> str:
    """A page without its code: what stands between fences or backquotes has no links."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def links(page: Path) -> list[tuple[Path, str]]:
    """File and heading of each link that stays in the project."""
    found = (link.partition("#") for link in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", link))
    return [((page.parent / path).resolve() if path else page, heading) for path, _, heading in found]


@cache
def headings(page: Path) -> frozenset[str]:
    """The names by which a page's headings are linked to."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading_of_it(page: Path) -> None:
    found = links(page)
    assert {str(target) for target, _ in found if not target.exists()} == set()
    assert {f"{target.name}#{name}" for target, name in found if name and name not in headings(target)} == set()


def test_the_index_leads_to_every_page() -> None:
    written = {page for folder in ("guides", "concepts", "reference") for page in (ROOT / "docs" / folder).glob("*.md")}
    parts = {page for page in written if page.name.endswith(".part.md")}
    known = {target for target, _ in links(ROOT / "docs" / "README.md")}
    assert {page.name for page in written - parts - known} == set()


@pytest.mark.parametrize("name", ["DESIGN.md", "CONTRIBUTING.md"])
def test_every_path_that_is_named_is_there(name: str) -> None:
    code = re.findall(r"`([^`\n]+)`", (ROOT / name).read_text("utf-8"))
    paths = {text for text in code if text.startswith(tuple(f"{root}/" for root in ROOTS)) and " " not in text}
    assert len(paths) > 5 or name != "DESIGN.md"
    assert {path for path in paths if not list(ROOT.glob(path.rstrip("/")))} == set()


def test_every_file_that_design_names_is_there() -> None:
    code = re.findall(r"`([\w/]+\.(?:py|java|c|h))`", (ROOT / "DESIGN.md").read_text("utf-8"))
    there = {file.name for root in ("src", "native", "tests", "tools", "docs") for file in (ROOT / root).rglob("*.*")}
    assert len(code) > 30
    assert {path for path in code if path.rpartition("/")[2] not in there} == set()


def test_every_package_is_in_the_map_of_files() -> None:
    chart = (ROOT / "DESIGN.md").read_text("utf-8").partition("## File map")[2]
    packages = {folder.name for folder in (ROOT / "src" / "brokernat").iterdir() if (folder / "__init__.py").exists()}
    assert {name for name in packages if f"`src/brokernat/{name}/" not in chart} == set()


def test_the_readme_is_short_and_in_its_order() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 120
    order = [
        "Symptom",
        "Diagnose",
        "Fix",
        "Connect your client",
        "Install",
        "Demo and tests",
        "When not to use it",
        "More",
    ]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == order


def test_explain_knows_each_line_of_the_symptom() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    lines = text.partition("## Symptom")[2].split("```")[1].strip().splitlines(keepends=True)
    report = explain_log(lines)
    assert (report.recognised, len(report.explained)) == (len(lines), len(lines)) == (4, 4)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "log-lines.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_an_agent_is_named_by_an_absolute_path(page: Path) -> None:
    """A JVM resolves a relative path in the folder in which it starts."""
    paths = re.findall(r"-javaagent:([^\s=`'\"]+)", page.read_text("utf-8"))
    assert [path for path in paths if not path.startswith(("/", "$PWD/", "$(brokernat", "…"))] == []


def paragraphs(page: Path) -> list[str]:
    """The running text of a page: no code, tables, headings or items of lists."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [block for block in re.split(r"\n\s*\n", text) if not re.match(r"\s*(\||#|- |\d+\. |<!--|!\[)", block)]


WRITTEN = [
    page for page in PAGES if page.parent.name in ("guides", "concepts") or page.name in ("README.md", "SECURITY.md")
]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_paragraph_has_at_most_four_sentences(page: Path) -> None:
    ends = re.compile(r"[.!?](?:[)`*\"]*)(?=\s+[A-Z`*\"(\[])")
    label = re.compile(r"^\*\*[^*]*\.\*\* ")
    plain = {block: label.sub("", re.sub(r"`[^`]*`", "X", block)) for block in paragraphs(page)}
    assert [block[:80] for block, text in plain.items() if len(ends.findall(text.strip())) > 3] == []


def documented() -> Iterator[tuple[str, object]]:
    """Every name that the API reference shows, with what it names."""
    pages = sorted((ROOT / "docs" / "reference" / "api").glob("*.rst"))
    for module_name, names in re.findall(
        r"automodule:: (\S+)\n   :members:(.*)", "".join(page.read_text("utf-8") for page in pages)
    ):
        module = importlib.import_module(module_name)
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module_name]
        public = [name for name in own if not name.startswith("_")]
        for name in re.findall(r"\w+", names) or getattr(module, "__all__", public):
            yield f"{module_name}.{name}", getattr(module, name)


def methods(value: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class itself defines."""
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def test_every_name_of_the_api_reference_has_a_docstring() -> None:
    found = {name: value for name, value in documented() if inspect.isclass(value) or inspect.isfunction(value)}
    assert len(found) > 60
    parts = {
        f"{name}.{part}": function
        for name, value in found.items()
        if inspect.isclass(value)
        for part, function in methods(value)
    }
    assert [name for name, value in (found | parts).items() if not value.__doc__] == []
