from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["doctor", "discover"])
def test_who_has_no_file_is_told_that_none_is_needed(run: Callable[..., str], folder: Path, command: str) -> None:
    (folder / "brokernat.yaml").unlink()
    assert run(command) == (
        "exit 2\n--- stdout\n--- stderr\nerror: there is no file `brokernat.yaml` (the default)\n\n"
        f"hint: `brokernat {command} HOST:PORT` needs no file; else write one with `brokernat init`, "
        "or name another with `--config FILE` or BROKERNAT_CONFIG\n"
    )
