"""A bundle's jars into the cache, where every part of brokernat looks for jars before it asks a repository.

Into the cache and not by a setting that points at the bundle: the bundle may be a medium that is taken out again, and
what starts Spark next week will not have the setting. pip installs the wheels.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from brokernat.bundle import manifest
from brokernat.bundle.collecting import Description
from brokernat.clients.spark.connector import candidates, never_ask_for
from brokernat.clients.spark.releases import Combination, release_of
from brokernat.jvm.cache import create_directory
from brokernat.paths import cache_dir


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the jars are now, by the names of their folders."""

    cache: Path
    artifacts: tuple[str, ...]


def install(folder: Path) -> Installed:
    """Verify a bundle and put its jars into this user's cache; what is there already stays.

    Raises:
        ConfigError: it is no bundle of this version.
        DamagedBundleError: it is not as it was collected.
    """
    manifest.verify(folder)
    made = Description.read(folder)
    target = cache_dir() / "artifacts"
    # A bundle without Spark has none, and an empty folder may get lost on the way.
    names = sorted(directory.name for directory in (folder / "artifacts").glob("*"))
    for name in names:
        if not (target / name).is_dir():
            create_directory(target / name, partial(_copy, folder / "artifacts" / name))
    if made.pyspark and made.connector:
        known = candidates(release_of(made.pyspark))
        # Or the first start would ask a repository that is not there for what even its maker could not get.
        never_ask_for(known[: known.index(Combination(*made.connector))])
    return Installed(target, tuple(names))


def _copy(source: Path, work: Path) -> None:
    shutil.copytree(source, work, dirs_exist_ok=True)
