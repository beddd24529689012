"""Builds the librdkafka plug-in: `python tools/plugin_library.py`, and the hook by which a wheel gets it.

Two libraries of the same sources: one for `plugin.library.paths`, one to preload. `ziglang` from PyPI is the compiler
where it is installed: it builds for a glibc older than the machine's, so that one wheel serves every Linux of the last
ten years. A source distribution is built with the compiler that is there, for the machine itself; without any, the
wheel has no plug-in, and what needs it says so.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "native" / "librdkafka-plugin" / "src"
PACKAGED = ROOT / "src" / "brokernat" / "clients" / "librdkafka" / "_native"
LIBRARIES = {"libbrokernat-rdkafka.so": "preload.c", "libbrokernat-preload.so": "conf_init.c"}  # all sources but one
MANYLINUX = "manylinux_2_17_x86_64"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden"]
# Unloading would pull callbacks from under a client's threads.
LINK = ["-shared", "-Wl,-z,nodelete", "-Wl,-z,relro", "-Wl,-z,now", "-ldl", "-lpthread"]


def compiler() -> tuple[list[str], str] | None:
    """The compiler's command and the platform tag of what it builds."""
    if sysconfig.get_platform() == "linux-x86_64" and importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu.2.17", "-s"], MANYLINUX
    named = os.environ.get("CC")
    found = (
        shlex.split(named) if named else next(([name] for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    )
    if not found or not sys.platform.startswith("linux"):
        return None
    return found, sysconfig.get_platform().replace("-", "_").replace(".", "_")


def build(command: list[str]) -> None:
    """Compiles both libraries; each replaces an older one only when it is whole."""
    PACKAGED.mkdir(parents=True, exist_ok=True)
    for name, left_out in LIBRARIES.items():
        sources = sorted(str(source) for source in SOURCES.glob("*.c") if source.name != left_out)
        partial = PACKAGED / f"{name}.partial"
        done = subprocess.run(
            [*command, *FLAGS, f"-Wl,-soname,{name}", "-o", str(partial), *sources, *LINK],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"error: {name} did not build: {shlex.join(done.args)}\n{done.stderr}")
        partial.replace(PACKAGED / name)


class PluginBuildHook(BuildHookInterface[Any]):
    """A wheel with the plug-in is for one platform; an editable install takes what `make plugin` leaves in the tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        found = compiler()
        if version == "editable" or found is None:
            return
        command, platform = found
        if not all((PACKAGED / name).is_file() for name in LIBRARIES):
            build(command)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"


def main() -> None:
    found = compiler()
    if found is None:
        sys.exit("error: no C compiler\n\nhint: `pip install ziglang` brings one, or set CC")
    build(found[0])


if __name__ == "__main__":
    main()
