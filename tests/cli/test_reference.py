"""The pages of docs/reference are what the code says."""

import importlib.util
from pathlib import Path

import pytest

from brokernat.cli.exit_codes import TABLE
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


@pytest.mark.parametrize("name", ["brokernat.schema.json", "configuration.md", "address-map.md", "exit-codes.md"])
def test_the_committed_page_is_that_of_the_code(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "run: .venv/bin/python docs/reference/generate.py"


def test_every_error_has_its_code_in_the_table() -> None:
    errors: list[type[BrokernatError]] = [BrokernatError, *BrokernatError.__subclasses__()]
    assert {str(error.exit_code) for error in errors} <= set(TABLE)
