"""Packs the installed distributions that brokernat needs as wheels again.

A bundle contains the installed versions. No resolver or registry may choose others, and a bundle can be made from a
bundle's installation. `packaging` parses requirements as pip does, with the markers of this Python and platform, which
are those of the bundle. A requirement that is not installed is an error, because it could not be downloaded there.

A wheel's `RECORD` (PEP 376, PEP 427) names each file with its SHA-256, so changed files are detected. Files that the
installer generates are omitted: byte code, launchers of entry points, its metadata. Files outside of site-packages go
back to `NAME.data/`. An editable installation has no files: brokernat's source tree is built instead.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from brokernat.errors import ConfigError, Finding, MissingToolError

ROOT = "brokernat"
_INSTALLER_S_OWN = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"})
_PACKED = (".jar", ".gz", ".zip", ".png", ".so")
"""Suffixes of files that are compressed already."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def required_distributions(extras: Iterable[str]) -> list[Distribution]:
    """brokernat first, then all its requirements, by name.

    Raises:
        ConfigError: brokernat has no such extra, or requirements are not installed; names all of them.
    """
    wanted = frozenset(map(canonicalize_name, extras))
    if problems := [*_unknown(wanted), *_not_installed(wanted)]:
        raise ConfigError(*problems)
    found: dict[str, Distribution] = {ROOT: distribution(ROOT)}
    waiting: list[tuple[str, frozenset[str]]] = [(ROOT, wanted)]
    seen = set(waiting)
    while waiting:
        name, with_extras = waiting.pop()
        for need in _requirements(found[name], with_extras):
            needed = canonicalize_name(need.name)
            installed = _installed(needed)
            if installed is None or not need.specifier.contains(installed.version, prereleases=True):
                here = f"{installed.version} is" if installed else "it is not"
                message = f"{name} needs `{need}`, and {here} installed here"
                problems.append(Finding("requirement-not-installed", message, "`pip check` lists what is wrong"))
                continue
            found[needed] = installed
            if (step := (needed, frozenset(map(canonicalize_name, need.extras)))) not in seen:
                seen.add(step)
                waiting.append(step)
    if problems:
        raise ConfigError(*problems)
    return [found.pop(ROOT), *(found[name] for name in sorted(found))]


def installed_extras() -> tuple[str, ...]:
    """The extras of brokernat whose requirements are all installed here."""
    return tuple(extra for extra in known_extras() if not any(_not_installed([extra])))


def known_extras() -> tuple[str, ...]:
    """All extras of brokernat, in their order."""
    return tuple(map(canonicalize_name, distribution(ROOT).metadata.get_all("Provides-Extra") or ()))


def _unknown(extras: frozenset[str]) -> Iterator[Finding]:
    known = known_extras()
    for extra in sorted(extras - set(known)):
        yield Finding("no-such-extra", f"brokernat has no extra `{extra}`", f"there are: {', '.join(known)}")


def _not_installed(extras: Iterable[str]) -> Iterator[Finding]:
    root = distribution(ROOT)
    always = {str(need) for need in _requirements(root, ())}
    for extra in sorted(extras):
        for need in _requirements(root, [extra]):
            if str(need) not in always and _installed(need.name) is None:
                message = f"`{need.name}` of the extra `{extra}` is not installed here"
                yield Finding("extra-not-installed", message, f"pip install 'brokernat[{extra}]'")


def _requirements(owner: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """The requirements on this Python and platform, in general or for one of the extras."""
    needs = map(Requirement, owner.requires or ())
    return [
        need
        for need in needs
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def make_wheel(owner: Distribution, folder: Path) -> Path:
    """Write the wheel of an installed distribution into `folder`.

    Raises:
        ConfigError: it was not installed from a wheel, or one of its files was changed.
        MissingToolError: it is a source tree, and its build tool is not installed.
    """
    if tree := source_tree(owner):
        return _build(tree, folder)
    files = owner.files
    info = next((file.parent for file in files or () if file.name == "RECORD"), None)
    if files is None or info is None:
        raise _refused(owner, "it has no RECORD of its files", "install it with pip, in a virtual environment")
    stem = info.name.removesuffix(".dist-info")
    wheel = folder / f"{stem}-{tag(owner.read_text('WHEEL') or '')}.whl"
    launchers = _entry_points(owner.read_text("entry_points.txt") or "")
    record: list[str] = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(files):
            place = place_in_wheel(file, stem, launchers)
            if place is None:
                continue
            data, mode = _content(owner, file)
            _add(archive, place, data, mode)
            record.append(_record_line(place, data))
        name = f"{info}/RECORD"
        _add(archive, name, "".join(f"{line}\n" for line in [*record, f"{name},,"]).encode(), 0o644)
    return wheel


def source_tree(owner: Distribution) -> Path | None:
    """The folder of an editable installation (PEP 610), None for any other."""
    origin = json.loads(owner.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(origin["url"]).path))


def place_in_wheel(file: PackagePath, stem: str, launchers: Iterable[str]) -> str | None:
    """The path of an installed file in its wheel, None if an installer generates it.

    Args:
        file: relative to site-packages, as in RECORD.
        stem: `NAME-VERSION`.
        launchers: names of the distribution's entry points.
    """
    in_info = file.parent.name == f"{stem}.dist-info"
    if file.suffix == ".pyc" or (in_info and file.name in _INSTALLER_S_OWN):
        return None
    if ".." not in file.parts:
        return file.as_posix()
    within = [part for part in file.parts if part != ".."]
    if within[0] == "bin":
        return None if file.name in launchers else f"{stem}.data/scripts/{file.name}"
    return f"{stem}.data/data/{'/'.join(within)}"


def tag(wheel_file: str) -> str:
    """The tags of a WHEEL file, compressed as in a wheel's file name (PEP 425).

    >>> tag("Root-Is-Purelib: true\\nTag: py2-none-any\\nTag: py3-none-any\\n")
    'py2.py3-none-any'
    """
    tags = [line.partition(":")[2].strip().split("-") for line in wheel_file.splitlines() if line.startswith("Tag:")]
    return "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))


def _build(tree: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder.absolute())]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise MissingToolError(
            f"{tree} cannot be built: {''.join(last)}", hint="run `make setup agent` in the source tree"
        )
    return max(folder.glob("brokernat-*.whl"), key=lambda wheel: wheel.stat().st_mtime_ns)


def _content(owner: Distribution, file: PackagePath) -> tuple[bytes, int]:
    path = Path(str(file.locate()))
    try:
        data, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise _refused(owner, f"`{path}` cannot be read: {error.strerror}", "install it anew") from None
    if file.hash and file.hash.value != _digest(data):
        raise _refused(owner, f"`{path}` was changed after it was installed", "install it anew")
    return (data, mode) if ".." not in file.parts else (_any_python(data), mode)


def _any_python(script: bytes) -> bytes:
    """A script with the generic interpreter line `#!python` of the wheel format."""
    first, end, rest = script.partition(b"\n")
    ours = first.startswith(b"#!") and first[2:].split(b" ")[0] == sys.executable.encode()
    return b"#!python" + end + rest if ours else script


def _entry_points(text: str) -> frozenset[str]:
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of programs keep their case
    parser.read_string(text)
    sections = [name for name in ("console_scripts", "gui_scripts") if parser.has_section(name)]
    return frozenset(name for section in sections for name in parser.options(section))


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = ((mode & 0o777) | 0o100000) << 16
    packed = name.endswith(_PACKED)
    entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=None if packed else 1)


def _record_line(name: str, data: bytes) -> str:
    quoted = f'"{name}"' if "," in name else name
    return f"{quoted},sha256={_digest(data)},{len(data)}"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def _refused(owner: Distribution, why: str, hint: str) -> ConfigError:
    name = f"{owner.metadata['Name']} {owner.version}"
    return ConfigError(Finding("not-a-wheel", f"{name} cannot be bundled: {why}", hint))
