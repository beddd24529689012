"""Archives of class data: a JVM makes one, starts from it, and does without one that does not fit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brokernat.jvm import Java, find_java
from brokernat.jvm.java import class_data_archive, reading_class_data, writing_class_data


@pytest.fixture(scope="module")
def java() -> Java:
    return find_java(17)


@pytest.fixture(scope="module")
def classes(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    (folder / "Greeter.java").write_text(
        'class Greeter { public static void main(String[] words) { System.out.println("hello"); } }'
    )
    subprocess.run([java.home / "bin" / "javac", "Greeter.java"], cwd=folder, check=True)
    # An archive takes classes from jars only.
    subprocess.run([java.home / "bin" / "jar", "cf", "greeter.jar", "Greeter.class"], cwd=folder, check=True)
    return folder / "greeter.jar"


def greet(java: Java, classes: Path, *options: str) -> str:
    command = [str(java.binary), *options, "-cp", str(classes), "Greeter"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return ended.stdout + ended.stderr


def test_what_one_jvm_has_loaded_the_next_takes_from_the_archive(java: Java, classes: Path, tmp_path: Path) -> None:
    archive = tmp_path / "made.jsa"
    assert reading_class_data(archive) == ()
    assert greet(java, classes, *writing_class_data(archive)) == "hello\n"
    loaded = greet(java, classes, *reading_class_data(archive), "-Xlog:class+load")
    assert "Greeter source: shared objects file (top)" in loaded


def test_an_archive_that_does_not_fit_is_left_aside_without_a_word(java: Java, classes: Path, tmp_path: Path) -> None:
    archive = tmp_path / "made.jsa"
    greet(java, classes, *writing_class_data(archive))
    other = tmp_path / "other.jar"
    other.write_bytes(classes.read_bytes())
    assert greet(java, other, *reading_class_data(archive)) == "hello\n"
    archive.unlink()
    archive.write_bytes(b"no archive at all" * 1_000)
    assert greet(java, classes, *reading_class_data(archive)) == "hello\n"


def test_each_java_and_each_set_of_jars_has_its_own(java: Java, tmp_path: Path) -> None:
    other = Java(tmp_path, java.version, java.vendor, "JAVA_HOME")
    found = {class_data_archive(each, tmp_path / jars) for each in (java, other) for jars in ("a-1", "a-2")}
    assert len(found) == 4
