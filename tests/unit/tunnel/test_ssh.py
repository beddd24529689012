"""What ssh logs, and what people are told."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokernat.address import Endpoint
from brokernat.errors import ConfigError
from brokernat.tunnel.forwarder import Forward, TunnelFailedError, Workspace
from brokernat.tunnel.ssh import SshForwarder, explained, failure, ssh_words

COMMAND = "ssh user@bastion"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    ("logged", "message", "hint"),
    [
        (
            ("@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @", "Host key verification failed."),
            "the host's key differs from known_hosts",
            "ssh-keygen -R",
        ),
        (("Host key verification failed.",), "the host's key is not in known_hosts", "compare the fingerprint"),
        (("user@bastion: Permission denied (publickey,password).",), "the login was refused", "must work by hand"),
        (("ssh: connect to host bastion port 22: Connection refused",), "Connection refused", "must work by hand"),
        ((), "it ended without a message", "must work by hand"),
    ],
    ids=["other key", "unknown key", "login", "refused", "nothing"],
)
def test_each_failure_has_its_message(logged: tuple[str, ...], message: str, hint: str, terminal: bool) -> None:
    error = failure(COMMAND, logged, terminal=terminal)
    assert error.message.startswith(f"`{COMMAND}`: ")
    assert message in error.message
    assert error.hint is not None
    assert hint in error.hint
    assert error.exit_code == 3


def test_without_a_terminal_the_message_says_that_nobody_could_be_asked() -> None:
    for logged in ("Host key verification failed.", "Permission denied (password)."):
        assert "there is no terminal" in failure(COMMAND, (logged,), terminal=False).message
        assert "there is no terminal" not in failure(COMMAND, (logged,), terminal=True).message


def test_a_refused_forward_names_who_refused() -> None:
    line = "channel 2: open failed: administratively prohibited: open failed"
    assert "sshd does not allow forwarding" in explained(line)
    assert explained("channel 3: open failed: connect failed: Connection refused") == (
        "from the SSH host: Connection refused"
    )


def test_the_destination_is_what_stands_behind_ssh() -> None:
    assert ssh_words("-J user@outer 'user@inner'") == ["-J", "user@outer", "user@inner"]
    for text in (" ", "user@'bastion"):
        with pytest.raises(ConfigError, match="has no host"):
            ssh_words(text)


class Machine:
    """A machine with a stand-in for ssh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words = folder / "words"
        self.master: socket.socket | None = None
        program = folder / "bin" / "ssh"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$*" >> {self.words}\n')
        program.chmod(0o755)

    def run_on_terminal(self, _: Sequence[str]) -> int:
        """As `ssh -f`, which goes into the background when its control socket is ready."""
        if self.master is not None:
            self.master.bind(str(self.folder / "ssh"))
            self.master.listen()
        return 0

    def end_master(self) -> None:
        assert self.master is not None
        self.master.close()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with socket.socket(socket.AF_UNIX) as master:
        made.master = master
        yield made


FORWARD = Forward(Endpoint("kafka-1", 9092), Endpoint("127.0.0.1", 19092))


@pytest.mark.parametrize("hangs", ["-G", "-O forward"])
def test_ssh_that_does_not_end_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch, hangs: str) -> None:
    run = subprocess.run

    def run_or_hang(words: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if hangs in " ".join(words):
            raise subprocess.TimeoutExpired(words, options["timeout"])
        return run(words, **options)

    monkeypatch.setattr(subprocess, "run", run_or_hang)
    forwarder = SshForwarder("user@bastion", cast("Workspace", machine))
    with pytest.raises(TunnelFailedError, match=f"`ssh .*{hangs}.*it does not end within 30 s") as error:
        forwarder.open(FORWARD, may_prompt=False)
    assert error.value.hint == "`ssh user@bastion true` must work by hand"
    machine.end_master()
    assert not forwarder.alive(FORWARD)


def test_a_master_without_its_control_socket_has_failed(machine: Machine) -> None:
    machine.master = None
    (machine.folder / "ssh.log").write_text("")
    forwarder = SshForwarder("user@bastion", cast("Workspace", machine))
    with pytest.raises(TunnelFailedError, match="it ended without a message"):
        forwarder.open(FORWARD, may_prompt=False)


def test_a_closed_forward_is_cancelled(machine: Machine) -> None:
    forwarder = SshForwarder("user@bastion", cast("Workspace", machine))
    forwarder.open(FORWARD, may_prompt=False)
    assert forwarder.alive(FORWARD)
    for _ in range(2):
        forwarder.close(FORWARD)
    assert not forwarder.alive(FORWARD)
    machine.end_master()
    # Nothing to cancel.
    forwarder.close(FORWARD)
    cancelled = [line for line in machine.words.read_text().splitlines() if "-O cancel" in line]
    assert cancelled == [f"-F none -S {machine.folder}/ssh -O cancel -L 127.0.0.1:19092:kafka-1:9092 brokernat"]


def test_a_connection_that_is_opened_again_asks_nothing_and_what_the_user_configures_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal belongs to the command by then."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ssh"
    program.write_text("#!/bin/sh\necho connecttimeout 7\necho serveraliveinterval 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    started: list[Sequence[str]] = []

    def refuse(words: Sequence[str]) -> int:
        started.append(words)
        return 255

    workspace = cast("Workspace", SimpleNamespace(folder=tmp_path, run_on_terminal=refuse))
    forwarder = SshForwarder("user@bastion", workspace)
    forward = Forward(Endpoint("kafka-1", 9092), Endpoint("127.0.0.1", 19092))
    for may_prompt in (True, False):
        with pytest.raises(TunnelFailedError):
            forwarder.open(forward, may_prompt=may_prompt)
    assert ["BatchMode=yes" in words for words in started] == [False, True]
    for words in started:
        assert "ServerAliveInterval=10" in words
        assert not any(word.startswith("ConnectTimeout") for word in words)
        assert words[-1] == "user@bastion"
