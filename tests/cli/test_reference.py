"""The pages of docs/reference are what the code says."""

import importlib.util
from pathlib import Path

import pytest

from brokernat.cli.exit_codes import TABLE
from brokernat.doctor.registry import CHECKS
from brokernat.errors import BrokernatError

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.pages()
    return made


PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_that_of_the_code(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name], "run: .venv/bin/python docs/reference/generate.py"


def test_every_code_has_one_page_and_is_in_the_index() -> None:
    codes = {f"codes/{check.code}.md" for check in CHECKS}
    assert {f"codes/{file.name}" for file in (FOLDER / "codes").iterdir()} == codes | {"codes/README.md"}
    assert all(f"]({check.code}.md)" in PAGES["codes/README.md"] for check in CHECKS)


def test_every_error_has_its_code_in_the_table() -> None:
    errors: list[type[BrokernatError]] = [BrokernatError, *BrokernatError.__subclasses__()]
    assert {str(error.exit_code) for error in errors} <= set(TABLE)
