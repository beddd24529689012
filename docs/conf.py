"""The site that `make docs` builds: every page of the project as it stands, and the reference from the docstrings.

The source folder is the project's root, so a link between two files means the same here and in a repository browser.
The navigation comes from the headings and links of docs/README.md: a page that is not linked there is an error.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.ext.napoleon import Config, GoogleDocstring

import brokernat

ROOT = Path(__file__).parents[1]
INDEX = "docs/README"
BELOW = {
    "docs/reference/codes/README": "docs/reference/codes/BN*.md",
    "docs/reference/performance": "bench/*/README.md",
}
"""Pages whose own lists of pages are not in the index."""

project = "brokernat"
author = "The brokernat authors"
copyright = author  # noqa: A001 - Sphinx's own name
version = release = brokernat.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = ["*.md", "docs/**", "examples/**/README.md", "bench/**/README.md"]
exclude_patterns = [
    ".*",
    "build",
    "dist",
    "docs/reference/*.part.md",
    "native",
    "requirements",
    "src",
    "tests",
    "tools",
]

myst_heading_anchors = 4
highlight_language = "text"
default_role = "code"
autodoc_member_order = "bysource"
autoclass_content = "both"
autodoc_default_options = {"undoc-members": True}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"brokernat {release}"
html_theme_options = {
    "light_css_variables": {
        "color-sidebar-link-text": "var(--color-foreground-secondary)",
        "color-sidebar-link-text--top-level": "var(--color-foreground-secondary)",
    },
    "dark_css_variables": {
        "color-sidebar-link-text": "var(--color-foreground-secondary)",
        "color-sidebar-link-text--top-level": "var(--color-foreground-secondary)",
    },
}
html_static_path = ["site"]
html_css_files = ["style.css"]
html_copy_source = False
html_additional_pages = {"index": "redirect.html"}
templates_path = ["site"]


def sections() -> dict[str, list[str]]:
    """The pages that each section of the index links to, in its order."""
    text = (ROOT / f"{INDEX}.md").read_text("utf-8")
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        links = re.findall(r"\]\(([^)#]+\.(?:md|rst))\)", section)
        pages = ((ROOT / INDEX).parent.joinpath(link).resolve().relative_to(ROOT) for link in links)
        found[section.partition("\n")[0]] = [str(page.with_suffix("")) for page in pages]
    return found


def add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    """Gives the root page its table of contents, and other lists of pages theirs."""
    if name == root_doc:
        listed = {"Start": [INDEX]} | sections() | {"Project": ["CHANGELOG", "CONTRIBUTING", "DESIGN", "SECURITY"]}
        shown: set[str] = set()
        for caption, pages in listed.items():
            source[0] += _contents([page for page in pages if page not in shown], f":caption: {caption}\n")
            shown.update(pages)
    elif name in BELOW:
        source[0] += _contents(sorted(str(page.relative_to(ROOT).with_suffix("")) for page in ROOT.glob(BELOW[name])))


def _contents(pages: list[str], options: str = "") -> str:
    return f"\n\n```{{toctree}}\n:hidden:\n{options}\n" + "".join(f"/{page}\n" for page in pages) + "```\n"


def read_sections(app: Sphinx, _what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Reads `Raises:` and the like. All as of a method: of an attribute the text before a colon would be its type."""
    lines[:] = GoogleDocstring(lines, Config(), app, "method", name, obj, options).lines()


def refuse_remote_resources(app: Sphinx, exception: Exception | None) -> None:
    """The site is read where there is no network: links may lead out, but nothing is loaded from elsewhere."""
    loads = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*["'](?:https?:)?//|url\(["']?(?:https?:)?//|@import""")
    files = [file for ending in ("html", "css") for file in Path(app.outdir).rglob(f"*.{ending}")]
    if not exception and (remote := [str(file) for file in files if loads.search(file.read_text("utf-8"))]):
        raise SphinxError(f"these files load from a network: {', '.join(remote)}")


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-docstring", read_sections)
    app.connect("build-finished", refuse_remote_resources)
