"""The pages of docs/reference are what the code says."""

import importlib.util
import sys
from pathlib import Path

import pytest

from brokernat.cli.exit_codes import TABLE
from brokernat.doctor.checks import CHECKS
from brokernat.errors import BrokernatError

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """File name to content, as `generate.py` makes it; a second of work, so not while tests are collected."""
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    # As when it runs as a program, it finds its neighbour.
    sys.path.append(str(FOLDER))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.pages()
    return made


@pytest.mark.usefixtures("pages")
def test_the_readme_names_the_versions_that_the_tests_run_with() -> None:
    readme = " ".join((FOLDER.parents[1] / "README.md").read_text("utf-8").split())
    assert sys.modules["versions_page"].readme_row() in readme, "docs/reference/versions_page.py: readme_row()"


def test_the_committed_pages_are_those_of_the_code(pages: dict[str, str]) -> None:
    def made_by_code(page: str) -> str:
        # The report at the end of a code's page is a snapshot of other tests.
        return page.partition("\n## In a report\n")[0]

    outdated = [
        name for name, made in pages.items() if made_by_code((FOLDER / name).read_text("utf-8")) != made_by_code(made)
    ]
    assert not outdated, "run: .venv/bin/python docs/reference/generate.py"


def test_every_code_has_one_page_and_is_in_the_index(pages: dict[str, str]) -> None:
    codes = {f"codes/{check.code}.md" for check in CHECKS}
    assert {f"codes/{file.name}" for file in (FOLDER / "codes").iterdir()} == codes | {"codes/README.md"}
    assert all(f"]({check.code}.md)" in pages["codes/README.md"] for check in CHECKS)


def test_every_error_has_its_code_in_the_table() -> None:
    errors: list[type[BrokernatError]] = [BrokernatError, *BrokernatError.__subclasses__()]
    assert {str(error.exit_code) for error in errors} <= set(TABLE)
