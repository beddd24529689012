"""The documents lead somewhere: every link between them, and every page from the index."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def targets(page: Path) -> set[Path]:
    """The files that a page links to; code between fences has no links."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    links = {link.partition("#")[0] for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)}
    return {(page.parent / link).resolve() for link in links}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    assert {str(target) for target in targets(page) if not target.exists()} == set()


def test_the_index_leads_to_every_page() -> None:
    written = {page for folder in ("guides", "concepts", "reference") for page in (ROOT / "docs" / folder).glob("*.md")}
    parts = {page for page in written if page.name.endswith(".part.md")}
    assert {page.name for page in written - parts - targets(ROOT / "docs" / "README.md")} == set()
