"""Evidence from the network: what a client meets at an endpoint, step by step.

kio, which encodes the requests, imports hypothesis where that is installed and registers strategies with it; hypothesis
then leaves a folder `.hypothesis` wherever the command was called. So kio is imported here first, without hypothesis.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any


def _import_kio_without_hypothesis() -> None:
    modules: dict[str, Any] = sys.modules
    before = modules.get("hypothesis")
    modules["hypothesis"] = None
    try:
        # Where kio is missing, whoever needs it says so.
        with suppress(ImportError):
            import kio.static.primitive  # noqa: F401
    finally:
        del modules["hypothesis"]
        if before is not None:
            modules["hypothesis"] = before


_import_kio_without_hypothesis()
