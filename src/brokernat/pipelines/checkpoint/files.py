"""Files wherever Spark finds them: a local folder, HDFS, an object store. Through Hadoop's FileSystem, as Spark itself.

Only what references and the checkpoint need: look, read and write small texts, rename, remove.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from brokernat.errors import ConfigError, Finding
from brokernat.paths import sync, sync_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, order=True)
class FileStamp:
    """What changes when a file is written anew; `modified` in milliseconds since 1970."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Files:
    """The file systems that a session knows."""

    spark: SparkSession

    def require_named(self, paths: Mapping[str, str]) -> None:
        """Do nothing where each path, by its place in the file, is on the file system that a reader expects.

        Raises:
            ConfigError: see `unnamed`.
        """
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001
        default = jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(self._configuration()).toString()
        if found := unnamed(paths, default):
            raise ConfigError(*found)

    def stamps(self, path: str) -> tuple[FileStamp, ...]:
        """Every file under `path` (a file, a folder, or a pattern with `*`), hidden ones left out as Spark does."""
        system, at = self._locate(path)
        found: list[FileStamp] = []
        for status in system.globStatus(at) or ():
            self._collect(system, status, found)
        return tuple(sorted(found))

    def unfinished(self, path: str) -> bool:
        """Whether a Spark or Hadoop job is writing into the folder `path`."""
        system, at = self._locate(path)
        return bool(system.exists(self._path(f"{at}/_temporary")))

    def exists(self, path: str) -> bool:
        system, at = self._locate(path)
        return bool(system.exists(at))

    def read_text(self, path: str) -> str | None:
        """The text of a small file, None where there is none."""
        system, at = self._locate(path)
        if not system.exists(at):
            return None
        stream = system.open(at)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write_text(self, path: str, text: str) -> None:
        """Replaces a small file, its folder made where needed. Cut short, it leaves the whole file or none."""
        system, at = self._locate(path)
        begun = f"{path}.new"
        stream = system.create(self._path(begun), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        _sync(begun)
        system.delete(at, False)
        system.rename(self._path(begun), at)
        _sync_names(path)

    def rename(self, path: str, to: str) -> None:
        """Durable on this machine; what another file system has closed is its own to keep."""
        system, at = self._locate(path)
        _sync(path)
        system.rename(at, self._path(to))
        _sync_names(to)

    def remove(self, path: str) -> None:
        """Removes a file or a folder with all in it; nothing happens where there is none."""
        system, at = self._locate(path)
        system.delete(at, True)

    def _collect(self, system: Any, status: Any, found: list[FileStamp]) -> None:
        path = status.getPath()
        if status.isDirectory():
            for child in system.listStatus(path):
                if not child.getPath().getName().startswith(("_", ".")):
                    self._collect(system, child, found)
        else:
            found.append(FileStamp(path.toString(), status.getLen(), status.getModificationTime()))

    def _locate(self, path: str) -> tuple[Any, Any]:
        at = self._path(path)
        return at.getFileSystem(self._configuration()), at

    def _configuration(self) -> Any:
        return self.spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - py4j has no public door

    def _path(self, path: str) -> Any:
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001
        return jvm.org.apache.hadoop.fs.Path(path)


def unnamed(paths: Mapping[str, str], default: str) -> tuple[Finding, ...]:
    """Paths without a file system where Spark's default, `fs.defaultFS`, is not this machine's own.

    In the file such a path starts from the file's folder, which is here; Spark would look for it there.
    """
    if is_local(default):
        return ()
    return tuple(
        Finding(
            "no-file-system",
            f"`{place}: {path}` names no file system, and Spark's default is {default} (fs.defaultFS)",
            f"write `{default.rstrip('/')}/...` for a place that all hosts share, "
            f"or `file://{path}` for this host's disk",
        )
        for place, path in paths.items()
        if not urlsplit(path).scheme
    )


def _sync(path: str) -> None:
    """Before a rename. Hadoop keeps a checksum beside each local file, and no fsync of its own reaches the disk."""
    at = Path(local_path(path))
    for part in (at, at.with_name(f".{at.name}.crc")):
        if is_local(path) and part.exists():
            sync(part)


def _sync_names(path: str) -> None:
    if is_local(path):
        sync_names(Path(local_path(path)).parent)


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's own, without or with `file:`."""
    return urlsplit(path).scheme in ("", "file")


def local_path(path: str) -> str:
    """The plain path of a local one."""
    return urlsplit(path).path if path.startswith("file:") else path
