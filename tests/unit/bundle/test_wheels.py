"""Distributions laid out in a folder as an installer leaves them."""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, PathDistribution
from pathlib import Path
from typing import Any

import pytest

from brokernat.bundle import wheels
from brokernat.bundle.wheels import (
    installed_extras,
    known_extras,
    make_wheel,
    place_in_wheel,
    required_distributions,
    source_tree,
    tag,
)
from brokernat.errors import ConfigError

INFO = "tool-1.0.dist-info"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("tool/__init__.py", "tool/__init__.py"),
        ("tool/__pycache__/__init__.cpython-311.pyc", None),
        (f"{INFO}/METADATA", f"{INFO}/METADATA"),
        (f"{INFO}/RECORD", None),
        (f"{INFO}/direct_url.json", None),
        (f"{INFO}/licenses/RECORD", f"{INFO}/licenses/RECORD"),
        ("../../../bin/tool", None),
        ("../../../bin/tool-helper.sh", "tool-1.0.data/scripts/tool-helper.sh"),
        ("../../../share/tool/x.jar", "tool-1.0.data/data/share/tool/x.jar"),
    ],
)
def test_where_a_file_goes(file: str, place: str | None) -> None:
    assert place_in_wheel(PackagePath(file), "tool-1.0", ["tool"]) == place


@pytest.mark.parametrize(
    ("tags", "compressed"),
    [
        (["py3-none-any"], "py3-none-any"),
        (
            ["cp311-cp311-manylinux2014_x86_64", "cp311-cp311-manylinux_2_17_x86_64"],
            "cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64",
        ),
    ],
)
def test_tags(tags: list[str], compressed: str) -> None:
    assert tag("Wheel-Version: 1.0\n" + "".join(f"Tag: {one}\n" for one in tags)) == compressed


@pytest.fixture
def tool(tmp_path: Path) -> Distribution:
    """`tool` 1.0 in a virtual environment."""
    site = tmp_path / "venv" / "lib" / "python" / "site-packages"
    files = {
        "tool/__init__.py": b"print('tool')\n",
        f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n",
        f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{INFO}/entry_points.txt": b"[console_scripts]\ntool = tool:main\n",
        f"{INFO}/INSTALLER": b"pip\n",
        "../../../bin/tool": b"#!/launcher\n",
        "../../../bin/helper.py": f"#!{sys.executable}\nprint('helper')\n".encode(),
    }
    record = ""
    for name, data in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(data)}\n"
    (site / "../../../bin/helper.py").resolve().chmod(0o755)
    (site / INFO / "RECORD").write_text(f"{record}{INFO}/RECORD,,\n")
    return PathDistribution(site / INFO)


def test_a_wheel_holds_what_the_installer_was_given(tool: Distribution, tmp_path: Path) -> None:
    wheel = make_wheel(tool, tmp_path)
    assert wheel.name == "tool-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(archive.namelist()) == [
            "tool-1.0.data/scripts/helper.py",
            f"{INFO}/METADATA",
            f"{INFO}/RECORD",
            f"{INFO}/WHEEL",
            f"{INFO}/entry_points.txt",
            "tool/__init__.py",
        ]
        assert archive.read("tool-1.0.data/scripts/helper.py") == b"#!python\nprint('helper')\n"
        assert archive.getinfo("tool-1.0.data/scripts/helper.py").external_attr >> 16 == 0o100755
        assert f"{INFO}/RECORD,," in archive.read(f"{INFO}/RECORD").decode().splitlines()


def test_the_same_files_make_the_same_wheel(tool: Distribution, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (make_wheel(tool, tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_file_that_was_changed_is_not_taken_along(tool: Distribution, tmp_path: Path) -> None:
    Path(str(tool.locate_file("tool/__init__.py"))).write_text("print('mine')")
    with pytest.raises(ConfigError, match=r"tool 1\.0 cannot be bundled: .* was changed after it was installed"):
        make_wheel(tool, tmp_path)


def test_what_no_installer_recorded_is_refused(tool: Distribution, tmp_path: Path) -> None:
    Path(str(tool.locate_file(f"{INFO}/RECORD"))).unlink()
    with pytest.raises(ConfigError, match="no RECORD"):
        make_wheel(tool, tmp_path)


def test_an_editable_installation_is_its_source_tree(tool: Distribution) -> None:
    assert source_tree(tool) is None
    origin = Path(str(tool.locate_file(f"{INFO}/direct_url.json")))
    origin.write_text('{"url": "file:///work/a%20b", "dir_info": {"editable": true}}')
    assert source_tree(tool) == Path("/work/a b")


INSTALLED = {
    "brokernat": ("1", ["Click>=8", "gone; python_version < '3'", 'tool[Fast_er]<3 ; extra == "b_c"'], ["B_c"]),
    "click": ("8.1", ['colorama; sys_platform == "win32"'], []),
    "tool": ("2", ['base ; extra == "fast-er"', 'unused ; extra == "other"'], ["fast-er", "other"]),
    "base": ("1", ["tool"], []),
}


class Fake(Distribution):
    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        version, requires, extras = INSTALLED[self._name]
        lines = [f"Name: {self._name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {one}" for one in requires] + [f"Provides-Extra: {one}" for one in extras]
        return "\n".join(lines) if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, list[str], list[str]]]:
    def find(name: str) -> Distribution:
        if name not in INSTALLED:
            raise PackageNotFoundError(name)
        return Fake(name)

    monkeypatch.setattr(wheels, "distribution", find)
    monkeypatch.setattr(f"{__name__}.INSTALLED", dict(INSTALLED))
    return INSTALLED


def names(*extras: str) -> list[str]:
    return [owner.metadata["Name"] for owner in required_distributions(extras)]


@pytest.mark.usefixtures("environment")
def test_markers_and_extras_are_those_of_this_environment() -> None:
    assert names() == ["brokernat", "click"]
    assert names("b-c") == names("B_C") == ["brokernat", "base", "click", "tool"]
    assert installed_extras() == ("b-c",)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("version", "here"), [("3", "3 is"), (None, "it is not")])
def test_what_would_be_missing_there_is_refused_here(version: str | None, here: str) -> None:
    INSTALLED["base"] = ("1", ["missing>=4"], [])
    if version:
        INSTALLED["missing"] = (version, [], [])
    with pytest.raises(ConfigError, match=f"base needs `missing>=4`, and {here} installed here"):
        names("b-c")


def test_without_extras_only_what_is_always_needed() -> None:
    found = names()
    assert found[0] == "brokernat"
    assert {"click", "pydantic", "pydantic_core", "rich", "ruamel.yaml"} <= set(found)
    assert "pyspark" not in found


def test_an_extra_brings_its_own_and_what_these_need() -> None:
    assert {"pyspark", "py4j"} <= set(names("spark"))


def test_extras_that_are_not_there_are_told_all_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        required_distributions(["sprak", "kafka", "spark"])
    assert [problem.message for problem in error.value.problems] == [
        "brokernat has no extra `kafka`",
        "brokernat has no extra `sprak`",
    ]


def test_what_is_installed_here_is_the_default() -> None:
    assert {"spark", "shipping"} <= set(installed_extras()) <= set(known_extras())
