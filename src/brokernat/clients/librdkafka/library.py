"""The libraries that bring an address map into librdkafka, as the wheel carries them."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from brokernat.errors import MissingToolError

PLUGIN = "libbrokernat-rdkafka.so"
PRELOAD = "libbrokernat-preload.so"


def plugin_library() -> Path:
    """The absolute path of the plug-in, for `plugin.library.paths`.

    Raises:
        MissingToolError: it was not built, in this source tree or for this platform.
    """
    return _library(PLUGIN)


def preload_library() -> Path:
    """The absolute path of the library for `LD_PRELOAD`, for programs that cannot be configured.

    It needs nothing but two variables: `BROKERNAT_MAP` (rules or `file:/path`) and `BROKERNAT_UNMAPPED` (`fail`, or
    `pass` unless set). Clients that name the plug-in themselves are left alone.

    Raises:
        MissingToolError: it was not built, in this source tree or for this platform.
    """
    return _library(PRELOAD)


def _library(name: str) -> Path:
    library = Path(str(importlib.resources.files("brokernat.clients.librdkafka") / "_native" / name))
    if not library.is_file():
        raise MissingToolError(
            f"the librdkafka plug-in is not built: no {library}",
            hint="in the source tree: make plugin; elsewhere install from the source distribution, with a C compiler",
        )
    return library.absolute()
