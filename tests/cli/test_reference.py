"""The pages of docs/reference are what the code says."""

import importlib.util
import sys
from pathlib import Path

import pytest

from brokernat.cli.exit_codes import TABLE
from brokernat.doctor.checks import CHECKS
from brokernat.errors import BrokernatError

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    # As when it runs as a program, it finds its neighbour.
    sys.path.append(str(FOLDER))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.pages()
    return made


def committed_page(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


PAGES = pages()


def test_the_readme_names_the_versions_that_the_tests_run_with() -> None:
    readme = " ".join((FOLDER.parents[1] / "README.md").read_text("utf-8").split())
    assert sys.modules["versions_page"].readme_row() in readme, "docs/reference/versions_page.py: readme_row()"


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_that_of_the_code(name: str) -> None:
    # The report at the end of a code's page is a snapshot of other tests.
    committed, made = (page.partition("\n## In a report\n")[0] for page in (committed_page(name), PAGES[name]))
    assert committed == made, "run: .venv/bin/python docs/reference/generate.py"


def test_every_code_has_one_page_and_is_in_the_index() -> None:
    codes = {f"codes/{check.code}.md" for check in CHECKS}
    assert {f"codes/{file.name}" for file in (FOLDER / "codes").iterdir()} == codes | {"codes/README.md"}
    assert all(f"]({check.code}.md)" in PAGES["codes/README.md"] for check in CHECKS)


def test_every_error_has_its_code_in_the_table() -> None:
    errors: list[type[BrokernatError]] = [BrokernatError, *BrokernatError.__subclasses__()]
    assert {str(error.exit_code) for error in errors} <= set(TABLE)
