"""A real schema registry: Apicurio in memory, with Confluent's API, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.jars import maven

from brokernat.jvm import find_java
from brokernat.paths import cached, create_directory, locked
from brokernat.testbed.place import wait_until

VERSION = "2.5.11.Final"
_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_SHA256 = "f894a17f650ec427de72cfb68edfc30f8020743269293e58372e22f67fd4fd15"
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx384m")
_LISTENING = re.compile(r"Listening on: http://127\.0\.0\.1:(\d+)")
_DOWNLOAD_TIMEOUT, _TIMEOUT = 540, 300


@contextmanager
def apicurio(folder: Path) -> Iterator[str]:
    """The URL of the API; the log is in `folder`."""
    words = [str(find_java(17).binary), *_JVM, "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.http.port=0"]
    log = folder / "apicurio.log"
    with log.open("wb") as output:
        command = [*words, "-jar", str(_program())]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until(
            lambda: _LISTENING.search(log.read_text()) is not None,
            "the registry listens",
            timeout=_TIMEOUT,
            abort=lambda: None if process.poll() is None else f"it ended: {log.read_text()}",
        )
        found = _LISTENING.search(log.read_text())
        assert found
        yield f"http://127.0.0.1:{found[1]}/apis/ccompat/v7"
    finally:
        process.kill()
        process.wait()


def register(url: str, subject: str, schema: object, *references: dict[str, object]) -> int:
    """The id of a schema as the next version of a subject: Avro, or of Protobuf the text of a `.proto` file.

    Args:
        url: of the API.
        subject: where to.
        schema: an Avro schema, or a text.
        references: what a text imports: `name`, `subject` and `version`.
    """
    body: dict[str, object] = {"schema": schema, "schemaType": "PROTOBUF", "references": references}
    if not isinstance(schema, str):
        body = {"schema": json.dumps(schema, separators=(",", ":"))}
    request = urllib.request.Request(f"{url}/subjects/{subject}/versions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/vnd.schemaregistry.v1+json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(json.load(answer)["id"])


def _program() -> Path:
    folder = cached("artifacts", f"apicurio-registry-app-{VERSION}")
    with locked(folder.parent / f".{folder.name}.lock"):
        if not folder.is_dir():
            create_directory(folder, _fill)
    (program,) = folder.rglob("*-runner.jar")
    return program


def _fill(work: Path) -> None:
    copy = f"-DoutputDirectory={work}"
    command = [maven(), "-q", "--batch-mode", "dependency:copy", f"-Dartifact={_ARTIFACT}", copy]
    subprocess.run(command, check=True, timeout=_DOWNLOAD_TIMEOUT)
    (archive,) = work.glob("*.tar.gz")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == _SHA256
    with tarfile.open(archive) as content:
        # An argument for it is there only from Python 3.11.4 on.
        content.extraction_filter = getattr(tarfile, "data_filter", None)
        content.extractall(work)
    archive.unlink()
