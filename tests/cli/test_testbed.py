"""What `testbed` refuses before it starts anything; worlds that run are in tests/integration/testbed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

_WITHOUT_KIO = """
import sys
sys.modules["kio"] = None
from brokernat.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("file", "why"),
    [("brokernat.yaml", "exists and is not overwritten"), ("nowhere/b.yaml", "cannot be written")],
)
def test_a_file_that_cannot_be_written_is_told_before_brokers_start(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, file: str, why: str
) -> None:
    monkeypatch.setattr("brokernat.testbed.LoopbackWorld.up", lambda _: pytest.fail("brokers were started"))
    text = run("testbed", "up", "--output", file)
    assert text.startswith("exit 2\n")
    assert why in text


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [("testbed --help", 0, "status"), ("testbed up", 2, "brokernat[testbed]"), ("demo", 2, "brokernat[testbed]")],
)
def test_without_the_extra_it_is_named(command: str, code: int, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_KIO, *command.split()], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert words in done.stdout + done.stderr


@pytest.mark.parametrize("topic", ["a/b", "", "a:", "a:0", "a:x", "a:1001"])
def test_a_topic_that_cannot_be_is_told_before_brokers_start(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, topic: str
) -> None:
    monkeypatch.setattr("brokernat.testbed.LoopbackWorld.up", lambda _: pytest.fail("brokers were started"))
    text = run("testbed", "up", "--topic", topic)
    assert text.startswith("exit 2\n")
    assert f"`{topic}`" in text


def test_without_the_extra_no_names_are_completed() -> None:
    words = {"_BROKERNAT_COMPLETE": "bash_complete", "COMP_WORDS": "brokernat testbed down ", "COMP_CWORD": "3"}
    command = [sys.executable, "-c", _WITHOUT_KIO]
    done = subprocess.run(command, env=os.environ | words, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")
