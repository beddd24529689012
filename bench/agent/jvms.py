"""The Java programs of `java/`, compiled, and a warm JVM that does what it is told on stdin."""

import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from brokernat.jvm import resolve

SOURCES = Path(__file__).parent / "java"
CLIENT = "3.9.2"
"""The client that Spark 4 brings."""


class WarmJvm:
    """A JVM that answers each command with one number; it ends with the `with` block."""

    def __init__(
        self,
        java: Path,
        classes: Path,
        options: Sequence[str],
        arguments: Sequence[str | int | Path],
        client: str = CLIENT,
    ) -> None:
        class_path = ":".join(map(str, [classes, *client_jars(client)]))
        memory = ["-Xms512m", "-Xmx512m", "-XX:+UseParallelGC"]
        words = [str(java), *memory, *options, "-cp", class_path, *map(str, arguments)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, command: str) -> float:
        """Send a command, wait for its number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"`{command}` ended the JVM with {self._process.wait()}; its reason stands above")
        return float(answer)


def client_jars(client: str = CLIENT) -> tuple[Path, ...]:
    """kafka-clients of a version with a logger that says nothing."""
    return resolve([f"org.apache.kafka:kafka-clients:{client}", "org.slf4j:slf4j-nop:1.7.36"])


def compile_programs(target: Path, *folders: Path) -> None:
    """Compile what is here and in other folders for Java 11, which all of the measured Javas run."""
    jars = ":".join(map(str, client_jars()))
    options = ["--release", "11", "-Xlint:-options", "-cp", jars, "-d", str(target)]
    sources = [source for folder in (SOURCES, *folders) for source in sorted(folder.glob("*.java"))]
    subprocess.run(["javac", *options, *sources], check=True)


def write_properties(file: Path, properties: Mapping[str, str]) -> Path:
    """A client's properties file; none of the values here needs an escape."""
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return file


def free_port() -> int:
    """A port on 127.0.0.1 that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as trial:
        port: int = trial.getsockname()[1]
        return port
