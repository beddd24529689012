"""Linking told from headers: made-up files of each form, and real programs of this machine."""

import sys
from pathlib import Path

import pytest
from tests.unit.clients.launch.conftest import MakeProgram, elf

from brokernat.clients.launch.elf import read_elf


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
