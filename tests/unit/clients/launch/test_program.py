"""Found as execvp would find it, and told apart from what cannot be started."""

from pathlib import Path

import pytest
from tests.unit.clients.launch.conftest import MakeProgram

from brokernat.clients.launch.program import find_program
from brokernat.errors import NotExecutableError, ProgramNotFoundError


def test_the_path_of_the_child_decides(program: MakeProgram) -> None:
    tool = program("tool", "#!/usr/bin/env -S python3 -u\n")
    found = find_program("tool", {"PATH": f"/nowhere:{tool.parent}"})
    assert found.path == tool
    assert found.interpreter == ("/usr/bin/env", "-S", "python3", "-u")


def test_a_file_that_may_not_be_run_is_passed_over(program: MakeProgram, tmp_path: Path) -> None:
    tool = program("tool", "#!/bin/sh\n")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "tool").write_text("no")
    assert find_program("tool", {"PATH": f"{tmp_path}/first:{tool.parent}"}).path == tool


def test_a_link_keeps_its_name(program: MakeProgram, tmp_path: Path) -> None:
    link = tmp_path / "python3"
    link.symlink_to(program("busybox", b"\0"))
    assert find_program(str(link), {}).path == link


@pytest.mark.parametrize("word", ["", "nothing-of-this-name", "./nothing"])
def test_not_found(word: str) -> None:
    with pytest.raises(ProgramNotFoundError) as caught:
        find_program(word, {"PATH": "/nowhere"})
    assert caught.value.exit_code == 127


def test_not_executable(program: MakeProgram, tmp_path: Path) -> None:
    tool = program("tool", "text", mode=0o644)
    for word in (str(tool), str(tmp_path)):
        with pytest.raises(NotExecutableError) as caught:
            find_program(word, {})
        assert caught.value.exit_code == 126


def test_a_broken_first_line_is_words_all_the_same(program: MakeProgram) -> None:
    assert find_program(str(program("tool", "#!/bin/sh 'x\n")), {}).interpreter == ("/bin/sh", "'x")
