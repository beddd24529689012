"""The two signals, in processes of their own: what the second one does cannot be survived."""

import os
import signal
import subprocess
import sys

import pytest

from brokernat.cli.signals import StopSignals

# Prints when it is ready, and what it is told by the first signal; ends when it may.
PROGRAM = """
import signal, sys, time
from brokernat.cli.signals import StopSignals

with StopSignals() as signals:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as a session does
    signals.reinstall()
    if sys.argv[1] == "running":
        signals.call_on_first(lambda: print("stop", flush=True))
    print("ready", flush=True)
    time.sleep(120)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_ends_the_process_and_says_so(number: signal.Signals) -> None:
    with started("running") as process:
        assert read(process) == "ready"
        process.send_signal(number)
        assert read(process) == "stop"
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert said == "stopped at once: the batch is not committed, and the next start runs it again\n"


def test_before_the_first_record_one_is_enough() -> None:
    with started("starting") as process:
        assert read(process) == "ready"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "stopped before the first record\n"


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with StopSignals() as signals:
        signals.call_on_first(lambda: None)
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.received == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def started(state: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", PROGRAM, state], stdout=pipe, stderr=pipe, text=True)


def read(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
