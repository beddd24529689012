"""Probes collect evidence from the network: the stages of a client at an endpoint.

kio, which encodes the requests, imports hypothesis where that is installed and registers strategies with it; hypothesis
then creates a folder `.hypothesis` in the current folder. So this package imports kio first, without hypothesis.
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
        # If kio is missing, the module that needs it reports the error.
        with suppress(ImportError):
            import kio.static.primitive  # noqa: F401
    finally:
        del modules["hypothesis"]
        if before is not None:
            modules["hypothesis"] = before


_import_kio_without_hypothesis()
