"""A file in a folder of its own, and how to load it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.config import Config, load

Load = Callable[..., Config]


@pytest.fixture
def load_text(tmp_path: Path) -> Load:
    """Loads a text as `brokernat.yaml`; the environment holds only what is given."""

    def load_it(text: str, environ: dict[str, str] | None = None, *, resolve_secrets: bool = True) -> Config:
        file = tmp_path / "brokernat.yaml"
        file.write_text(text, "utf-8")
        return load(file, environ=environ or {}, resolve_secrets=resolve_secrets)

    return load_it
