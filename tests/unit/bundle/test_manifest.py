from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from brokernat.bundle import manifest
from brokernat.errors import ConfigError, DamagedBundleError


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a b.whl").write_bytes(b"wheel")
    (tmp_path / "bundle.json").write_text("{}")
    manifest.write(tmp_path)
    return tmp_path


def test_what_was_written_is_verified_by_us_and_by_coreutils(bundle: Path) -> None:
    assert list(manifest.verify(bundle)) == ["bundle.json", "wheels/a b.whl"]
    subprocess.run(["sha256sum", "--check", "--quiet", manifest.NAME], cwd=bundle, check=True)


def test_every_difference_is_named(bundle: Path) -> None:
    (bundle / "wheels" / "a b.whl").write_bytes(b"another wheel")
    (bundle / "bundle.json").unlink()
    (bundle / "wheels" / "evil.whl").write_bytes(b"")
    with pytest.raises(DamagedBundleError) as error:
        manifest.verify(bundle)
    assert error.value.message.splitlines() == [
        f"files of the bundle `{bundle}` have changed",
        "`bundle.json` is missing",
        "`wheels/a b.whl` was changed",
        "`wheels/evil.whl` is not listed",
    ]


def test_a_folder_without_sums_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="SHA256SUMS"):
        manifest.verify(tmp_path)


def test_a_list_of_sums_that_is_torn_is_damage(bundle: Path) -> None:
    (bundle / manifest.NAME).write_bytes(b"\xff\x00  bundle.json\n")
    with pytest.raises(DamagedBundleError, match=r"`bundle\.json` was changed"):
        manifest.verify(bundle)


def test_what_cannot_be_read_is_damage_whatever_the_list_says() -> None:
    unreadable = manifest.UNREADABLE
    assert manifest.differences({"a": "1", "b": unreadable}, {"a": unreadable, "b": unreadable}) == (
        "`a` cannot be read",
        "`b` cannot be read",
    )


@pytest.mark.parametrize("name", ["wheels", "wheels/a b.whl", "bundle.json", manifest.NAME, "wheels/new", "new"])
def test_a_link_is_refused_wherever_it_stands_and_leads(
    bundle: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """To the very same files, too: what it leads to is not what was carried over."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "real"
    (bundle / name).rename(elsewhere) if (bundle / name).exists() else elsewhere.mkdir()
    (bundle / name).symlink_to(elsewhere)
    with pytest.raises(DamagedBundleError, match=f"`{name}` is a link"):
        manifest.verify(bundle)


@pytest.mark.timeout(60)
def test_what_is_no_file_is_refused_without_a_wait(bundle: Path) -> None:
    (bundle / "bundle.json").unlink()
    os.mkfifo(bundle / "bundle.json")
    with pytest.raises(DamagedBundleError, match=r"`bundle\.json` is not a regular file"):
        manifest.verify(bundle)


def test_a_bundle_may_be_named_by_a_link(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("media") / "stick"
    link.symlink_to(bundle)
    assert manifest.verify(link) == manifest.verify(bundle)
