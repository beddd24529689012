"""The libraries that bring an address map into librdkafka, as the wheel carries them."""

from __future__ import annotations

import importlib.resources
import sys
from pathlib import Path

from brokernat.errors import MissingToolError

PLUGIN = "libbrokernat-rdkafka.so"
PRELOAD = "libbrokernat-preload.so"
_SOURCES = Path(__file__).parents[4] / "native" / "librdkafka-plugin"


def plugin_library() -> Path:
    """The absolute path of the plug-in, for `plugin.library.paths`.

    Raises:
        MissingToolError: this installation has none.
    """
    return _library(PLUGIN)


def preload_library() -> Path:
    """The absolute path of the library for `LD_PRELOAD`, for programs that cannot be configured.

    It needs nothing but two variables: `BROKERNAT_MAP` (rules or `file:/path`) and `BROKERNAT_UNMAPPED` (`fail`, or
    `pass` unless set). Clients that name the plug-in themselves are left alone.

    Raises:
        MissingToolError: this installation has none.
    """
    return _library(PRELOAD)


def _library(name: str) -> Path:
    library = Path(str(importlib.resources.files("brokernat.clients.librdkafka") / "_native" / name))
    if not library.is_file():
        raise MissingToolError(f"this installation has no librdkafka plug-in: no {library}", hint=_how_to_get_it())
    return library.absolute()


def _how_to_get_it() -> str:
    if not sys.platform.startswith("linux"):
        return "the plug-in is for Linux; on other systems use a Java client, kafka-python or aiokafka"
    if _SOURCES.is_dir():
        return "make plugin"
    return (
        "the wheels for Linux on x86_64 and aarch64 have it; elsewhere build it with a C compiler: "
        "pip install --force-reinstall --no-deps --no-binary brokernat brokernat"
    )
