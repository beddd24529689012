from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from brokernat.bundle import manifest
from brokernat.bundle.contents import DESCRIPTION, Description, install
from brokernat.clients.spark.connector import candidates
from brokernat.clients.spark.releases import release_of
from brokernat.errors import ConfigError, DamagedBundleError

WANTED, *_, KNOWN = candidates(release_of("4.3.0"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "brokernat"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    for name in ("connector-4.2.0-key", "token-4.0.0-key"):
        (folder / "artifacts" / name).mkdir(parents=True)
        (folder / "artifacts" / name / "a.jar").write_bytes(name.encode())
    combination = (KNOWN.connector, KNOWN.token_provider)
    made = Description("0.1.0", ("spark",), "cpython-311", "linux-x86_64", "4.3.0", combination)
    (folder / DESCRIPTION).write_text(json.dumps(asdict(made)))
    manifest.write(folder)
    return folder


def test_jars_come_into_the_cache_and_what_is_there_stays(bundle: Path, cache: Path) -> None:
    own = cache / "artifacts" / "token-4.0.0-key"
    own.mkdir(parents=True)
    done = install(bundle)
    assert done.artifacts == ("connector-4.2.0-key", "token-4.0.0-key")
    assert (done.cache / "connector-4.2.0-key" / "a.jar").read_bytes() == b"connector-4.2.0-key"
    assert list(own.iterdir()) == []


def test_what_its_maker_could_not_get_is_never_asked_for(bundle: Path, cache: Path) -> None:
    install(bundle)
    until = {(one, two): end for one, two, _, end in json.loads((cache / "connectors.json").read_text())}
    assert until[WANTED.connector, WANTED.token_provider] == float("inf")
    assert (KNOWN.connector, KNOWN.token_provider) not in until


def test_of_a_damaged_bundle_nothing_is_installed(bundle: Path, cache: Path) -> None:
    (bundle / "artifacts" / "token-4.0.0-key" / "a.jar").write_bytes(b"another")
    with pytest.raises(DamagedBundleError, match="was changed"):
        install(bundle)
    assert not cache.exists()


@pytest.mark.parametrize("link", [True, False])
def test_a_jar_that_changes_after_it_was_verified_is_not_installed(
    bundle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, link: bool
) -> None:
    verify = manifest.verify
    jar = bundle / "artifacts" / "token-4.0.0-key" / "a.jar"

    def verify_and_change(folder: Path) -> dict[str, str]:
        found = verify(folder)
        jar.unlink()
        if link:
            jar.symlink_to(bundle / "artifacts" / "connector-4.2.0-key" / "a.jar")
        else:
            jar.write_bytes(b"another")
        (jar.parent / "more.jar").write_bytes(b"not listed")
        return found

    monkeypatch.setattr(manifest, "verify", verify_and_change)
    with pytest.raises(DamagedBundleError, match=r"token-4\.0\.0-key/a\.jar"):
        install(bundle)
    assert not (cache / "artifacts" / "token-4.0.0-key").exists()


def test_a_description_survives_being_written(bundle: Path) -> None:
    made = Description.read(bundle)
    assert (made.extras, made.connector) == (("spark",), (KNOWN.connector, KNOWN.token_provider))


def test_a_bundle_without_jars_is_installed_when_its_empty_folder_was_lost(bundle: Path, cache: Path) -> None:
    shutil.rmtree(bundle / "artifacts")
    manifest.write(bundle)
    assert install(bundle).artifacts == ()


@pytest.mark.parametrize("description", [None, "{", "[]", '{"extras": []}'])
def test_a_folder_with_sums_and_nothing_else_is_no_bundle(bundle: Path, cache: Path, description: str | None) -> None:
    (bundle / DESCRIPTION).unlink()
    if description is not None:
        (bundle / DESCRIPTION).write_text(description)
    manifest.write(bundle)
    with pytest.raises(ConfigError, match="does not describe a bundle"):
        install(bundle)


@pytest.mark.parametrize("connector", [("0.1.0", "0.1.0"), ("1", "2", "3", "4", "5")])
def test_a_bundle_with_the_jars_of_another_version_is_refused_before_any_is_copied(
    bundle: Path, cache: Path, connector: tuple[str, ...]
) -> None:
    made = Description("0.0.1", ("spark",), "cpython-311", "linux-x86_64", "4.3.0", connector)
    (bundle / DESCRIPTION).write_text(json.dumps(asdict(made)))
    manifest.write(bundle)
    with pytest.raises(ConfigError, match=r"was collected by brokernat 0\.0\.1") as caught:
        install(bundle)
    assert caught.value.problems[0].hint == "collect it again with this version"
    assert not cache.exists()
