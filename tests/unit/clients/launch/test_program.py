"""Found as execvp would find it; each kind by what it is known by; what nothing reaches is refused."""

import sys
from pathlib import Path

import pytest
from tests.unit.clients.launch.conftest import MakeProgram, elf

from brokernat.clients.launch.program import Kind, find_program, read_elf, recognise
from brokernat.errors import ConfigError, NotExecutableError, ProgramNotFoundError


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


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("", "the command's first word is empty"),
        ("nosuchprogram", "`nosuchprogram` is not found in the folders of PATH"),
        ("./nothing", "`./nothing` is not found"),
    ],
)
def test_not_found(word: str, message: str) -> None:
    with pytest.raises(ProgramNotFoundError) as caught:
        find_program(word, {"PATH": "/nowhere"})
    assert (caught.value.exit_code, caught.value.message) == (127, message)
    assert caught.value.hint


def test_not_executable(program: MakeProgram, tmp_path: Path) -> None:
    tool = program("tool", "text", mode=0o644)
    for word in (str(tool), str(tmp_path)):
        with pytest.raises(NotExecutableError) as caught:
            find_program(word, {})
        assert caught.value.exit_code == 126


def test_a_broken_first_line_is_words_all_the_same(program: MakeProgram) -> None:
    assert find_program(str(program("tool", "#!/bin/sh 'x\n")), {}).interpreter == ("/bin/sh", "'x")


SCRIPTS = {
    "kafka-topics.sh": ('#!/bin/bash\nexec $(dirname $0)/kafka-run-class.sh x.TopicCommand "$@"\n', Kind.KAFKA_TOOL),
    "kafka-run-class.sh": ("#!/bin/bash\nexec java\n", Kind.KAFKA_TOOL),
    "start.sh": ("#!/bin/sh\nkcat -L &\npython3 job.py\n", Kind.SHELL),
    "without-a-line": ("kcat -L\n", Kind.SHELL),
    "job.py": ("#!/usr/bin/env python3\n", Kind.PYTHON),
    "unbuffered": ("#!/usr/bin/env -S PYTHONPATH=x python3.12 -u\n", Kind.PYTHON),
    "entry-point": ("#!/opt/venv/bin/python\nimport app\n", Kind.PYTHON),
    "entry-point-with-a-long-path": ("#!/bin/sh\n'''exec' /opt/a/b/python3 \"$0\" \"$@\"\n' '''\n", Kind.PYTHON),
    "spark-submit": ("#!/usr/bin/env bash\n", Kind.SPARK),
    "pyspark": ("#!/usr/bin/env bash\n", Kind.SPARK),
    "java": ("#!/bin/sh\nexec /opt/java/bin/java\n", Kind.JAVA),
    "app.rb": ("#!/usr/bin/env ruby\n", Kind.OTHER),
}
BINARIES = {
    "kcat": (elf(needed=["librdkafka.so.1", "libc.so.6"]), Kind.LIBRDKAFKA),
    "jshell": (elf(needed=["libjli.so", "libc.so.6"]), Kind.JAVA),
    "java": (elf(needed=["libc.so.6"]), Kind.JAVA),
    "python3.12": (elf(needed=["libc.so.6"]), Kind.PYTHON),
    "busybox": (elf(interpreter=None), Kind.SHELL),
    "timeout": (elf(needed=["libc.so.6"]), Kind.OTHER),
    "tini-static": (elf(interpreter=None), Kind.OTHER),
    "gosu": (elf(interpreter=None, extra=b"\xff Go buildinf:"), Kind.OTHER),
    "uv": (elf(interpreter=None), Kind.OTHER),
    "unknown": (b"\x7fELF\x02\x01", Kind.OTHER),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(program: MakeProgram, name: str) -> None:
    content, kind = SCRIPTS[name]
    assert recognise(find_program(str(program(name, content)), {})).kind is kind


@pytest.mark.parametrize("name", BINARIES)
def test_binaries(program: MakeProgram, name: str) -> None:
    content, kind = BINARIES[name]
    assert recognise(find_program(str(program(name, content)), {})).kind is kind


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (elf(interpreter=None), "is statically linked"),
        (elf(interpreter=None, extra=b"\xff Go buildinf:"), "is a Go program, with a Kafka client of its own"),
        (elf(needed=["libc.so.6"], extra=b"\xff Go buildinf: rd_kafka_new"), "a Go program, with librdkafka built in"),
    ],
)
def test_out_of_reach(program: MakeProgram, content: bytes, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        recognise(find_program(str(program("tool", content)), {}))
    assert caught.value.problems[0].code == "out-of-reach"
    assert "nftables" in str(caught.value.hint)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_four_forms(program: MakeProgram, wide: bool, order: str) -> None:
    found = read_elf(program("kcat", elf(needed=["librdkafka.so.1", "libc.so.6"], wide=wide, order=order)))
    assert found is not None
    assert found.needed == ("librdkafka.so.1", "libc.so.6")
    assert found.interpreter == "/lib64/ld-linux-x86-64.so.2"
    assert found.needs("librdkafka")
    assert not found.needs("librd")
    assert (found.static, found.go, found.mentions_rdkafka) == (False, False, False)


def test_static_go_and_built_in(program: MakeProgram) -> None:
    found = read_elf(program("tool", elf(interpreter=None, extra=b"\xff Go buildinf:\x08\x02 rd_kafka_new\0")))
    assert found is not None
    assert found.static
    assert found.go
    assert found.mentions_rdkafka


def test_this_python_is_loaded_dynamically() -> None:
    found = read_elf(Path(sys.executable).resolve())
    assert found is not None
    assert any(name.startswith("libc.") for name in found.needed)


def test_what_is_no_elf_or_cut_short(program: MakeProgram) -> None:
    assert read_elf(program("script", "#!/bin/sh\n")) is None
    assert read_elf(program("empty", "")) is None
    whole = elf(needed=["librdkafka.so.1"])
    for length in range(4, len(whole) - 1):
        # No cut may do worse than to say nothing.
        read_elf(program("cut", whole[:length]))
    assert read_elf(program("cut", whole[:70])) is None
