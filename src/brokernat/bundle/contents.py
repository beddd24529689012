"""What is in a bundle, how it is made here and installed there.

    wheels/       for `pip install --no-index --find-links`
    artifacts/    as the cache of jars has them (jvm/artifacts.py)
    native/       the agent and the librdkafka plug-in, for programs that are wired by hand
    bundle.json   what it was made for
    SHA256SUMS    everything above

It is made beside its place and renamed, so a folder of that name is a whole bundle.

pip installs the wheels. `install` puts the jars into the cache, where every part of brokernat looks before it asks a
repository, and not behind a setting: the bundle may be a medium that is taken out again, and what starts Spark next
week will not have the setting.
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
    """What a bundle was made for. `pyspark` is None where it has no Spark and no jars for it."""

    brokernat: str
    extras: tuple[str, ...]
    python: str
    platform: str
    pyspark: str | None
    connector: tuple[str, ...] | None
    """The versions of the connector, of its token provider and of Scala."""

    @classmethod
    def read(cls, folder: Path) -> Description:
        """What stands in a bundle; `manifest.verify` comes first.

        Raises:
            ConfigError: nothing that this version understands.
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
    """A bundle that was made: its files and their SHA-256."""

    folder: Path
    description: Description
    files: dict[str, str]


def collect(folder: Path, extras: Sequence[str] | None = None) -> Collected:
    """Make a bundle in `folder`, which must not be there yet.

    Args:
        folder: where to.
        extras: brokernat's extras to take along; None for all that are installed here.

    Raises:
        ConfigError: the folder is there or cannot be made, an extra is not, a package was changed since it was
            installed.
        MissingToolError: no jars to be had, no agent, no plug-in.
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
    """Where the jars are now, by the names of their folders."""

    cache: Path
    artifacts: tuple[str, ...]


def install(folder: Path) -> Installed:
    """Verify a bundle and put its jars into this user's cache; what is there already stays.

    Raises:
        ConfigError: it is no bundle of this version.
        DamagedBundleError: it is not as it was collected.
    """
    files = manifest.verify(folder)
    made = Description.read(folder)
    target = cache_dir() / "artifacts"
    # A bundle without Spark has none, and an empty folder may get lost on the way.
    names = sorted(directory.name for directory in (folder / "artifacts").glob("*"))
    for name in names:
        if not (target / name).is_dir():
            create_directory(target / name, partial(manifest.copy, folder, files, f"artifacts/{name}"))
    if made.pyspark and made.connector:
        known = candidates(release_of(made.pyspark))
        # Or the first start would ask a repository that is not there for what even its maker could not get.
        never_ask_for(known[: known.index(Combination(*made.connector))])
    return Installed(target, tuple(names))
