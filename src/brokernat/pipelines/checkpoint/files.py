"""Files on every file system that Spark reads (local, HDFS, object stores), through Hadoop's FileSystem.

Only the operations that references and the checkpoint need: list, read and write small texts, rename, remove.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from brokernat.errors import ConfigError, Finding
from brokernat.paths import exchange, sync, sync_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LONGEST_LINE = 1 << 20
"""The bytes of a first line that are read at most."""


@dataclass(frozen=True, slots=True, order=True)
class FileStamp:
    """Path, size and time of a file, to detect changes; `modified` in milliseconds since 1970."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Files:
    """The file systems that a session knows."""

    spark: SparkSession

    def require_named(self, paths: Mapping[str, str]) -> None:
        """Check that each path names its file system where that is needed; the keys of `paths` are for the message.

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
        """The text of a small file, None if it does not exist."""
        system, at = self._locate(path)
        if not system.exists(at):
            return None
        stream = system.open(at)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def first_line(self, path: str) -> str | None:
        """The first line of a file without its line end, None if the file is compressed."""
        system, at = self._locate(path)
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001
        hadoop = jvm.org.apache.hadoop
        if hadoop.io.compress.CompressionCodecFactory(self._configuration()).getCodec(at) is not None:
            return None
        stream, line = system.open(at), hadoop.io.Text()
        try:
            hadoop.util.LineReader(stream).readLine(line, _LONGEST_LINE)
        finally:
            stream.close()
        return str(line.toString())

    def write_text(self, path: str, text: str) -> None:
        """Replaces a small file and creates its folder: durably and at once on the local file system.

        Elsewhere the new file is renamed once the old one is deleted: Hadoop's `FileSystem` replaces no file.

        Raises:
            OSError: it cannot be written. Hadoop's file systems raise Py4J's exceptions.
        """
        if is_local(path):
            _replace(Path(local_path(path)), text)
            return
        system, at = self._locate(path)
        unfinished_file = f"{path}.new"
        stream = system.create(self._path(unfinished_file), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        system.delete(at, False)
        self.rename(unfinished_file, path)

    def rename(self, path: str, to: str) -> None:
        """Renames; durable (fsync) on the local file system only.

        Raises:
            OSError: it is not renamed. Hadoop's file systems raise Py4J's exceptions, too.
        """
        system, at = self._locate(path)
        _sync(path)
        if not system.rename(at, self._path(to)):
            raise OSError(f"{path} cannot be renamed to {to}")
        _sync_names(to)

    def remove(self, path: str) -> None:
        """Removes a file or a folder with its content, if it exists."""
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
        return self.spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public access to py4j

    def _path(self, path: str) -> Any:
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001
        return jvm.org.apache.hadoop.fs.Path(path)


def unnamed(paths: Mapping[str, str], default: str) -> tuple[Finding, ...]:
    """Paths without a file system while Spark's default, `fs.defaultFS`, is not the local one.

    Such a path is relative to the configuration file on this machine, but Spark would look for it on `fs.defaultFS`.
    """
    if is_local(default):
        return ()
    return tuple(
        Finding(
            "no-file-system",
            f"`{place}: {path}` names no file system, and Spark's default is {default} (fs.defaultFS)",
            f"write `{default.rstrip('/')}/...` for storage that all hosts share, "
            f"or `file://{path}` for this host's disk",
        )
        for place, path in paths.items()
        if not urlsplit(path).scheme
    )


def _replace(at: Path, text: str) -> None:
    """Replaces a local file, so that a process that ends at any point leaves the old one or the new one."""
    at.parent.mkdir(parents=True, exist_ok=True)
    unfinished_file = at.with_name(f"{at.name}.new")
    unfinished_file.write_text(text, "utf-8")
    # Hadoop's checksum of the old content; a file without one is not compared.
    at.with_name(f".{at.name}.crc").unlink(missing_ok=True)
    exchange(unfinished_file, at)


def _sync(path: str) -> None:
    """Fsync before a rename: Hadoop does not fsync local files, nor the checksum file next to each."""
    at = Path(local_path(path))
    for part in (at, at.with_name(f".{at.name}.crc")):
        if is_local(path) and part.exists():
            sync(part)


def _sync_names(path: str) -> None:
    if is_local(path):
        sync_names(Path(local_path(path)).parent)


def is_local(path: str) -> bool:
    """Whether a path is local, with or without `file:`."""
    return urlsplit(path).scheme in ("", "file")


def local_path(path: str) -> str:
    """A local path without `file:`."""
    return urlsplit(path).path if path.startswith("file:") else path
