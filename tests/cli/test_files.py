"""Files are whole: what was there before or the new text, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brokernat.cli.files import folder_lock, require_writable_place, write_atomically
from brokernat.errors import ConfigError

# The kernel lets this process write 4096 bytes to a file and then says that it is too large, as a full disk would.
WITH_A_SMALL_DISK = """
import resource, sys
from pathlib import Path
from brokernat.cli.files import write_atomically
from brokernat.errors import ConfigError

resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomically(Path(sys.argv[1]), "x" * 10_000)
except ConfigError as error:
    print(error.report())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text("before")
    return file


def test_a_full_disk_leaves_the_file_as_it_was_and_nothing_beside_it(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITH_A_SMALL_DISK, file], capture_output=True, text=True, check=True)
    assert done.stdout == f"error: `{file}` cannot be written: File too large\n"
    assert file.read_text() == "before"
    assert list(file.parent.iterdir()) == [file]


def test_mode_and_owner_stay(file: Path) -> None:
    file.chmod(0o640)
    owner = (12345, 12346) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(file, *owner)
    write_atomically(file, "after")
    seen = file.stat()
    assert file.read_text() == "after"
    assert (seen.st_mode & 0o7777, seen.st_uid, seen.st_gid) == (0o640, *owner)


def test_nobody_else_may_open_the_new_content_of_a_private_file_at_any_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.chmod(0o600)
    modes: list[int] = []
    change = os.fchmod

    def watched(descriptor: int, mode: int) -> None:
        modes.append(os.fstat(descriptor).st_mode & 0o777)
        change(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", watched)
    write_atomically(file, "after")
    assert modes == [0o600]


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write_atomically(tmp_path / "new", "text")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("there", [True, False], ids=["a-file", "nothing-yet"])
def test_a_link_stays_one(file: Path, *, there: bool) -> None:
    if not there:
        file.unlink()
    link = file.with_name("link")
    link.symlink_to("file")
    write_atomically(link, "after")
    assert link.is_symlink()
    assert file.read_text() == "after"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit((tmp_path / "pipe").read_text)
        write_atomically(tmp_path / "pipe", "text")
        assert read.result(60) == "text"
    assert (tmp_path / "pipe").is_fifo()


def test_stdout_is_no_file_to_be_exchanged(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from brokernat.cli.files import *\n"
    code += "require_writable_place(Path('/dev/stdout')); write_atomically(Path('/dev/stdout'), 'text')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "text"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "text"


def test_what_cannot_be_written_is_said_beforehand_and_afterwards(tmp_path: Path) -> None:
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "folder").mkdir()
    for name in ("itself", "folder", "none/file"):
        for attempt in (require_writable_place, lambda file: write_atomically(file, "text")):
            with pytest.raises(ConfigError) as caught:
                attempt(tmp_path / name)
            assert f"`{tmp_path / name}` cannot be written" in caught.value.report()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "itself"]
    require_writable_place(tmp_path / "new")


def test_a_text_may_hold_the_name_of_a_file_that_is_no_text(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", "# made of \udcff")
    assert (tmp_path / "file").read_bytes() == b"# made of \xff"


def test_who_takes_turns_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "number"
    file.write_text("0")

    def add_one(_: int) -> None:
        with folder_lock(file):
            write_atomically(file, str(int(file.read_text()) + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(64)))
    assert file.read_text() == "64"
