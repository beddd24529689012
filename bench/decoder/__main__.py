"""Mutated records for the decoder of the jar for Spark: `python -m bench.decoder`. README.md has what must hold."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from brokernat.jvm import find_java, spark_functions_jar

HERE = Path(__file__).parent


def main() -> int:
    """Compile, run; 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.decoder", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long; default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same records; default %(default)s")
    wanted = parser.parse_args()
    java = find_java(17)
    jars = f"{spark_functions_jar()}:{Path(pyspark.__file__).parent / 'jars'}/*"
    with tempfile.TemporaryDirectory(prefix="brokernat-fuzz-") as classes:
        subprocess.run([java.home / "bin" / "javac", "-cp", jars, "-d", classes, HERE / "Fuzz.java"], check=True)
        # Spark's classes need these to be open (JavaModuleOptions).
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "sun.nio.ch", "java.lang")]
        words = [str(wanted.seconds), str(wanted.seed), str(HERE / "corpus.txt")]
        command = [str(java.home / "bin" / "java"), "-Xmx1g", *opened, "-cp", f"{classes}:{jars}"]
        return subprocess.run([*command, "io.brokernat.spark.Fuzz", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
