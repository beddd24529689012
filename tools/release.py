"""Builds everything that is published: `python tools/release.py FOLDER`, which is `make release`.

A source distribution, and from it three wheels: for Linux on x86_64, for Linux on aarch64, and one for any other
platform, which lacks the librdkafka plug-in alone. The same sources make the same files: their time is the release's.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from brokernat import __version__

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = ("linux-x86_64", "linux-aarch64", "any")
SUMS = "SHA256SUMS"


def release_date(changelog: str, version: str) -> datetime:
    """The date of the changelog's first section, which must be this version's."""
    section = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    found = re.fullmatch(rf"\[{re.escape(version)}\] - (\d{{4}}-\d{{2}}-\d{{2}})", section[1]) if section else None
    if not found:
        line = section[1] if section else "missing"
        sys.exit(f"error: the first section of CHANGELOG.md is `{line}`\n\nhint: `## [{version}] - YYYY-MM-DD`")
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC)


def run(*command: str | Path, **variables: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=os.environ | variables, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))} ended with {done.returncode}")


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"error: {folder} is not empty\n\nhint: a release is built into a folder of its own")
    date = release_date((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__)
    os.environ["SOURCE_DATE_EPOCH"] = str(int(date.timestamp()))
    build = ("uv", "build", "--quiet", "--no-build-isolation", "--out-dir", folder)
    run(*build, "--sdist", ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    for platform in PLATFORMS:
        run(*build, "--wheel", sdist, BROKERNAT_PLATFORM=platform)
    files = sorted([*folder.glob("*.whl"), sdist])
    run("twine", "check", "--strict", *files)
    sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), "utf-8")
    print(f"brokernat {__version__} is built: {folder}")


if __name__ == "__main__":
    main()
