"""Builds the librdkafka plug-in: `python tools/plugin_library.py`, and the hook by which a wheel gets it.

Two libraries of the same sources: one for `plugin.library.paths`, one to preload. `ziglang` from PyPI is the compiler
where it is installed: it builds for other machines than this one and for an old glibc, so that one wheel serves every
Linux of the last ten years. A source distribution is built with the compiler that is there, for the machine itself;
without any, the wheel has no plug-in, and what needs it says so.

`BROKERNAT_PLATFORM` names what a wheel is for: `linux-x86_64`, `linux-aarch64`, or `any`, which has no plug-in.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "native" / "librdkafka-plugin" / "src"
PACKAGED = ROOT / "src" / "brokernat" / "clients" / "librdkafka" / "_native"
LIBRARIES = {"libbrokernat-rdkafka.so": "preload.c", "libbrokernat-preload.so": "conf_init.c"}  # all sources but one
PLATFORM = "BROKERNAT_PLATFORM"
MACHINES = {"linux-x86_64": "x86_64", "linux-aarch64": "aarch64"}
GLIBC = (2, 17)
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden"]
# Unloading would pull callbacks from under a client's threads.
LINK = ["-shared", "-Wl,-z,nodelete", "-Wl,-z,relro", "-Wl,-z,now", "-ldl", "-lpthread"]


def compiler(platform: str) -> tuple[list[str], str] | None:
    """The command of a compiler for a platform, as `sysconfig` names it, and the tag of what it builds."""
    if platform in MACHINES and importlib.util.find_spec("ziglang"):
        machine, (major, minor) = MACHINES[platform], GLIBC
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{major}.{minor}", "-s"]
        return zig, f"manylinux_{major}_{minor}_{machine}"
    named = os.environ.get("CC")
    found = (
        shlex.split(named) if named else next(([name] for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    )
    if not found or platform != sysconfig.get_platform() or not platform.startswith("linux"):
        return None
    return found, platform.replace("-", "_").replace(".", "_")


def build(command: list[str], folder: Path) -> None:
    """Compiles both libraries; each replaces an older one only when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, left_out in LIBRARIES.items():
        sources = sorted(str(source) for source in SOURCES.glob("*.c") if source.name != left_out)
        partial = folder / f"{name}.partial"
        done = subprocess.run(
            [*command, *FLAGS, f"-Wl,-soname,{name}", "-o", str(partial), *sources, *LINK],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"error: {name} did not build: {shlex.join(done.args)}\n{done.stderr}")
        partial.replace(folder / name)


class PluginBuildHook(BuildHookInterface[Any]):
    """A wheel with the plug-in is for one platform; an editable install takes what `make plugin` leaves in the tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        named = os.environ.get(PLATFORM)
        found = None if named == "any" or version == "editable" else compiler(named or sysconfig.get_platform())
        if found is None:
            if named and named != "any":
                sys.exit(f"error: no compiler here builds for {named}\n\nhint: `pip install ziglang` brings one")
            return
        command, tag = found
        self.folder = Path(tempfile.mkdtemp())
        build(command, self.folder)
        for name in LIBRARIES:
            build_data["force_include"][str(self.folder / name)] = str(PACKAGED.relative_to(ROOT / "src") / name)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if not build_data["pure_python"]:
            shutil.rmtree(self.folder)


def main() -> None:
    found = compiler(sysconfig.get_platform())
    if found is None:
        sys.exit("error: no C compiler\n\nhint: `pip install ziglang` brings one, or set CC")
    build(found[0], PACKAGED)


if __name__ == "__main__":
    main()
