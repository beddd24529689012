"""Builds the jars and puts them where the package looks for them: `python tools/jars.py [MAVEN_GOAL]`.

Maven is taken from PATH; a machine without it gets one resolved as an artifact by the Ivy inside PySpark and checked
against the digest below. A jar is only replaced when its build succeeded, so a broken build never leaves half a jar.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGED = ROOT / "src" / "brokernat" / "jvm" / "_native"
JARS = {"jvm-agent": "brokernat-agent.jar", "spark-functions": "brokernat-spark.jar"}
"""By project below native/."""

MAVEN_VERSION = "3.9.11"
MAVEN_SHA256 = "0d7125e8c91097b36edb990ea5934e6c68b4440eef4ea96510a0f6815e7eeadb"

_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def cache_directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "brokernat" / "build"


def maven() -> str:
    """The `mvn` to run: the machine's own, else one unpacked into the cache."""
    found = shutil.which("mvn")
    if found:
        return found
    home = cache_directory() / f"apache-maven-{MAVEN_VERSION}"
    command = home / "bin" / "mvn"
    if not command.exists():
        archive = resolve_maven(cache_directory())
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != MAVEN_SHA256:
            sys.exit(f"error: {archive.name} has SHA-256 {digest}, expected {MAVEN_SHA256}")
        with zipfile.ZipFile(archive) as content:
            content.extractall(home.parent)
        command.chmod(0o755)
    return str(command)


def resolve_maven(directory: Path) -> Path:
    import pyspark

    directory.mkdir(parents=True, exist_ok=True)
    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    description = directory / "maven-ivy.xml"
    description.write_text(
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="brokernat" module="maven"/><configurations><conf name="default"/></configurations>'
        f'<dependencies><dependency org="org.apache.maven" name="apache-maven" rev="{MAVEN_VERSION}"'
        ' conf="default->master" transitive="false">'
        '<artifact name="apache-maven" type="zip" ext="zip" m:classifier="bin"/>'
        "</dependency></dependencies></ivy-module>",
        encoding="utf-8",
    )
    pattern = directory / "[artifact]-[revision].[ext]"
    command = [
        "java",
        "-jar",
        str(ivy),
        "-ivy",
        str(description),
        "-cache",
        str(directory / "ivy"),
        "-confs",
        "default",
    ]
    done = subprocess.run([*command, "-retrieve", str(pattern)], capture_output=True, text=True, check=False)
    archive = directory / f"apache-maven-{MAVEN_VERSION}.zip"
    if not archive.exists():
        sys.exit(f"error: Maven {MAVEN_VERSION} could not be resolved\n{done.stdout[-2000:]}\n\nhint: install `maven`")
    return archive


def build(project: Path, jar: str, goal: str) -> None:
    """Run a goal of Maven in a project and take its jar over."""
    skip_tests = ["-DskipTests", "-Dmaven.test.skip=true"] if goal == "package" else []
    # JVMs that live for seconds: the second compiler would cost more than it gives.
    environ = {"MAVEN_OPTS": _SHORT_LIVED, **os.environ}
    options = ["--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", f"-DargLine={_SHORT_LIVED}"]
    done = subprocess.run(
        [maven(), *options, *skip_tests, goal],
        cwd=project,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout)
        sys.exit(f"error: {jar} did not build: `mvn {goal}` in {project.relative_to(ROOT)}")
    # Surefire and failsafe close each suite with a line of its own.
    for total in re.findall(r"^.*(Tests run: .*Skipped: \d+)$", done.stdout, re.MULTILINE):
        print(total)
    PACKAGED.mkdir(parents=True, exist_ok=True)
    partial = PACKAGED / f"{jar}.partial"
    shutil.copyfile(project / "target" / jar, partial)
    partial.replace(PACKAGED / jar)


def main() -> None:
    for project, jar in JARS.items():
        build(ROOT / "native" / project, jar, sys.argv[1] if len(sys.argv) > 1 else "package")


if __name__ == "__main__":
    main()
