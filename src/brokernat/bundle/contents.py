"""The contents of a bundle; how it is collected and installed.

    wheels/       for `pip install --no-index --find-links`
    artifacts/    jars, laid out as in the cache (jvm/artifacts.py)
    native/       the agent and the librdkafka plug-in, for programs that the user configures
    bundle.json   the platform and versions it was made for
    SHA256SUMS    the checksums of all files above

It is created under a temporary name and renamed, so a folder with the final name is complete.

pip installs the wheels. `install` copies the jars into the cache, which brokernat uses before any repository. A setting
with the bundle's path would not be enough: the bundle may be on a removable medium.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path

import brokernat
from brokernat.bundle import manifest
from brokernat.bundle.wheels import installed_extras, make_wheel, required_distributions
from brokernat.clients.librdkafka import plugin_library, preload_library
from brokernat.clients.spark.connector import candidates, connector_jars, never_ask_for
from brokernat.clients.spark.releases import Combination, release_of
from brokernat.errors import ConfigError, Finding
from brokernat.jvm import agent_jar
from brokernat.paths import cache_dir, create_directory, exchange, writing

DESCRIPTION = "bundle.json"
_ON_LIBRDKAFKA = frozenset({"confluent", "shipping"})


@dataclass(frozen=True, slots=True)
class Description:
    """The platform and versions of a bundle. `pyspark` is None for a bundle without Spark and its jars."""

    brokernat: str
    extras: tuple[str, ...]
    python: str
    platform: str
    pyspark: str | None
    connector: tuple[str, ...] | None
    """The versions of the connector, its token provider and Scala."""

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Reads the description of a bundle; call `manifest.verify` first.

        Raises:
            ConfigError: this version does not understand it.
        """
        try:
            known = json.loads((folder / DESCRIPTION).read_text("utf-8"))
            connector = known["connector"] and tuple(known["connector"])
            return cls(**known | {"extras": tuple(known["extras"]), "connector": connector})
        except (OSError, ValueError, KeyError, TypeError):
            message = (
                f"`{folder / DESCRIPTION}` does not describe a bundle that brokernat {brokernat.__version__} knows"
            )
            raise ConfigError(Finding("not-a-bundle", message, "`brokernat bundle DIR` makes one")) from None


@dataclass(frozen=True, slots=True)
class Collected:
    """A collected bundle: its files and their SHA-256."""

    folder: Path
    description: Description
    files: dict[str, str]


def collect(folder: Path, extras: Sequence[str] | None = None) -> Collected:
    """Create a bundle in `folder`, which must not exist.

    Args:
        folder: the path of the bundle.
        extras: brokernat's extras to include; None for all that are installed here.

    Raises:
        ConfigError: the folder exists or cannot be created, an extra is not installed, or a package was changed since
            its installation.
        MissingToolError: jars cannot be downloaded, or the agent or the plug-in is missing.
    """
    with writing(folder, "the bundle", moved_by="DIR"):
        if folder.exists():
            message = f"`{folder}` exists"
            raise ConfigError(Finding("file-exists", message, "name a new folder; a bundle is never changed"))
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            description = _fill(work, tuple(installed_extras() if extras is None else extras))
            files = manifest.write(work)
            work.chmod(0o755)
            exchange(work, folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return Collected(folder, description, files)


def _fill(work: Path, extras: tuple[str, ...]) -> Description:
    distributions = required_distributions(extras)
    for name in ("wheels", "artifacts", "native"):
        (work / name).mkdir()
    plugin = (plugin_library, preload_library) if _ON_LIBRDKAFKA & set(extras) else ()
    for find in (agent_jar, *plugin):
        shutil.copy(find(), work / "native")
    for owner in distributions:
        make_wheel(owner, work / "wheels")
    pyspark = next((owner.version for owner in distributions if owner.metadata["Name"] == "pyspark"), None)
    connector = _artifacts(work / "artifacts", pyspark) if pyspark else None
    implementation = f"{sys.implementation.cache_tag} ({platform.python_version()})"
    found = Description(brokernat.__version__, extras, implementation, sysconfig.get_platform(), pyspark, connector)
    (work / DESCRIPTION).write_text(json.dumps(asdict(found), indent=2) + "\n")
    return found


def _artifacts(folder: Path, pyspark: str) -> tuple[str, ...]:
    chosen = connector_jars(pyspark)
    for directory in sorted({jar.parent for jar in chosen.jars}):
        shutil.copytree(directory, folder / directory.name)
    return astuple(chosen.combination)


@dataclass(frozen=True, slots=True)
class Installed:
    """The paths of the installed jars, by the names of their folders."""

    cache: Path
    artifacts: tuple[str, ...]


def install(folder: Path) -> Installed:
    """Verify a bundle and copy its jars into this user's cache; existing jars stay.

    Raises:
        ConfigError: it is not a bundle of this version.
        DamagedBundleError: it has changed since it was collected.
    """
    files = manifest.verify(folder)
    made = Description.read(folder)
    # Without these marks the first start would request combinations from a repository that the collector could not get,
    # either.
    unavailable = _unavailable(made, folder)
    target = cache_dir() / "artifacts"
    # A bundle without Spark has no jars, and copying may drop an empty folder.
    names = sorted(directory.name for directory in (folder / "artifacts").glob("*"))
    for name in names:
        if not (target / name).is_dir():
            create_directory(target / name, partial(manifest.copy, folder, files, f"artifacts/{name}"))
    if unavailable:
        never_ask_for(unavailable)
    return Installed(target, tuple(names))


def _unavailable(made: Description, folder: Path) -> Sequence[Combination]:
    """The combinations that this version prefers to the bundle's.

    Raises:
        ConfigError: this version does not use the bundle's combination.
    """
    if not made.pyspark or not made.connector:
        return ()
    known = candidates(release_of(made.pyspark))
    try:
        return known[: known.index(Combination(*made.connector))]
    except (ValueError, TypeError):
        message = f"`{folder}` was collected by brokernat {made.brokernat}: {brokernat.__version__} uses other jars"
        raise ConfigError(Finding("other-version", message, "collect it again with this version")) from None
