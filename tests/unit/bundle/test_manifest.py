from __future__ import annotations

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
        f"`{bundle}` is not as it was collected",
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
    assert manifest.differences({"a": "1", "b": ""}, {"a": "", "b": ""}) == (
        "`a` cannot be read",
        "`b` cannot be read",
    )
