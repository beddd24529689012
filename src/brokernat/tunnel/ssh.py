"""Opens forwards through one SSH connection, with the system's OpenSSH.

The user's configuration, agent, known hosts, ProxyJump and prompts are used. One master connection (ControlMaster)
carries all forwards; `-O forward` adds one without another login. With `-f` ssh goes into the background after the
login: until then it may prompt at the terminal, and afterwards Ctrl-C does not reach it. A later reconnection does not
prompt (BatchMode), because the command uses the terminal then.

An open connection to the master's control socket closes when the master ends, so that its end is noticed without
starting a program. The reason why a forward was refused is only in the log of ssh: the client sees a closed connection.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.tunnel.forwarder import Forward, PortTakenError, TunnelFailedError, Workspace, last_lines

_CONNECT_TIMEOUT, _ALIVE_INTERVAL, _ALIVE_COUNT = 15, 10, 3
_OPEN_FAILED = re.compile(r"open failed: (.+)")
_SUBCOMMAND_TIMEOUT = 30

_UNKNOWN_KEY: Final = re.compile(r"No \S+ host key is known|authenticity of host|Host key verification failed")
_CHANGED_KEY: Final = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed", re.IGNORECASE)
_DENIED: Final = re.compile(r"Permission denied|Too many authentication failures|No supported authentication")
_PROHIBITED: Final = re.compile(r"administratively prohibited")


class SshForwarder:
    """Forwards through `ssh WORDS`."""

    def __init__(self, destination: str, workspace: Workspace) -> None:
        """Starts no program.

        Args:
            destination: the words after `ssh`: a host of the configuration, user@host, options.
            workspace: the folder for the control socket and the log.

        Raises:
            ConfigError: code `bad-ssh`, unbalanced quotes, or an empty text.
            MissingToolError: OpenSSH is not installed.
        """
        self._words = ssh_words(destination)
        if shutil.which("ssh") is None:
            raise MissingToolError("no `ssh` on this machine", hint="install OpenSSH: `apt-get install openssh-client`")
        self._workspace = workspace
        self._socket, self._log = workspace.folder / "ssh", workspace.folder / "ssh.log"
        self._master: socket.socket | None = None
        self._open: set[Forward] = set()

    def __str__(self) -> str:
        return shlex.join(["ssh", *self._words])

    def open(self, forward: Forward, *, may_prompt: bool) -> None:
        """As `Forwarder.open`; connects first if there is no connection."""
        if not self._connected():
            self._connect(may_prompt=may_prompt)
        if not self._control("forward", forward):
            if self._connected():
                raise PortTakenError(str(forward))
            raise self._failed(may_prompt=may_prompt)
        self._open.add(forward)

    def alive(self, forward: Forward) -> bool:
        """Whether its connection is open."""
        return self._connected() and forward in self._open

    def close(self, forward: Forward) -> None:
        """As `Forwarder.close`; a master that does not answer is reported when the next forward is opened."""
        if self._connected() and forward in self._open:
            with suppress(TunnelFailedError):
                self._control("cancel", forward)
        self._open.discard(forward)

    def renew(self, forward: Forward) -> None:
        """Does nothing, because sshd dials the broker again for every connection."""

    def connection_key(self, forward: Forward) -> object:  # noqa: ARG002
        """The connection, which all forwards share."""
        return "connection"

    def reason(self, forward: Forward) -> str:  # noqa: ARG002
        """The reason why sshd refused the last connection, or why ssh ended."""
        lines = last_lines(self._log)
        return explained(lines[-1]) if lines else ""

    def _connect(self, *, may_prompt: bool) -> None:
        self._open.clear()
        self._socket.unlink(missing_ok=True)
        self._log.unlink(missing_ok=True)
        words = ["ssh", "-f", "-N", "-M", "-S", str(self._socket), "-E", str(self._log)]
        words += self._options(may_prompt=may_prompt)
        if self._workspace.run_on_terminal([*words, *self._words]) != 0:
            raise self._failed(may_prompt=may_prompt)
        master = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        master.settimeout(_SUBCOMMAND_TIMEOUT)
        try:
            master.connect(str(self._socket))
        except OSError:
            # It has ended meanwhile, or could not create its control socket.
            master.close()
            raise self._failed(may_prompt=may_prompt) from None
        master.setblocking(False)
        self._master = master

    def _options(self, *, may_prompt: bool) -> list[str]:
        """Required options, and defaults for options that the user's configuration does not set."""
        options = {"ControlPersist": "no", "ClearAllForwardings": "yes", "LogLevel": "INFO"}
        if not may_prompt:
            options["BatchMode"] = "yes"
        configured = self._configuration()
        if configured.get("connecttimeout") in (None, "none"):
            options["ConnectTimeout"] = str(_CONNECT_TIMEOUT)
        if configured.get("serveraliveinterval") == "0":
            options |= {"ServerAliveInterval": str(_ALIVE_INTERVAL), "ServerAliveCountMax": str(_ALIVE_COUNT)}
        return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]

    def _configuration(self) -> dict[str, str]:
        """The effective configuration for these words (`ssh -G`)."""
        result = self._run(["ssh", "-G", *self._words])
        if result.returncode != 0:
            message = f"ssh rejects `{shlex.join(self._words)}`: {' '.join(result.stderr.split())}"
            raise ConfigError(Finding("bad-ssh", message, "write the arguments of `ssh`, such as `user@bastion`"))
        return dict(line.split(" ", 1) for line in result.stdout.splitlines() if " " in line)

    def _connected(self) -> bool:
        """Whether the control connection is open; ignores the greeting that the master writes there."""
        if self._master is None:
            return False
        try:
            while self._master.recv(4096):
                pass
        except BlockingIOError:
            return True
        except OSError:
            pass
        self._master.close()
        self._master = None
        self._open.clear()
        return False

    def _control(self, command: str, forward: Forward) -> bool:
        """Sends the master a command (`ssh -O`) for a forward; returns whether it succeeded."""
        # Without the user's configuration, which may add forwards of its own; the host's name is not used.
        words = ["ssh", "-F", "none", "-S", str(self._socket), "-O", command]
        return self._run([*words, "-L", f"{forward.local}:{forward.target}", "brokernat"]).returncode == 0

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Runs ssh without a terminal.

        Raises:
            TunnelFailedError: it cannot be started, or does not end in time.
        """
        try:
            return subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SUBCOMMAND_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            reason = f"it does not end within {_SUBCOMMAND_TIMEOUT} s"
        except OSError as error:
            reason = f"it cannot be started: {error.strerror}"
        raise TunnelFailedError(f"`{shlex.join(words)}`: {reason}", hint=f"`{self} true` must work by hand")

    def _failed(self, *, may_prompt: bool) -> TunnelFailedError:
        return failure(str(self), last_lines(self._log, most=40), terminal=may_prompt and has_terminal())


def ssh_words(destination: str) -> list[str]:
    """The words after `ssh`.

    Raises:
        ConfigError: code `bad-ssh`.
    """
    try:
        words = shlex.split(destination)
    except ValueError:
        words = []
    if not words:
        hint = "write the arguments of `ssh`, such as `user@bastion` or `-J user@outer user@inner`"
        raise ConfigError(Finding("bad-ssh", f"`{destination}` has no host for ssh", hint))
    return words


def failure(command: str, lines: tuple[str, ...], *, terminal: bool) -> TunnelFailedError:
    """The error for the messages that ssh logged before it ended; pure.

    Args:
        command: the command line, as the user would type it.
        lines: the lines of ssh's log.
        terminal: whether ssh could prompt at a terminal.
    """
    text = "\n".join(lines)
    last = lines[-1] if lines else "it ended without a message"
    if _CHANGED_KEY.search(text):
        return TunnelFailedError(
            f"`{command}`: the host's key differs from known_hosts: the host was reinstalled, or another host answers",
            hint="ask its administrator for the fingerprint; if it is right, `ssh-keygen -R HOST` removes the old key",
        )
    if _UNKNOWN_KEY.search(text):
        why = "" if terminal else ", and there is no terminal"
        return TunnelFailedError(
            f"`{command}`: the host's key is not in known_hosts{why}",
            hint=f"run `{command} true` once in a terminal, compare the fingerprint and accept it",
        )
    if _DENIED.search(text):
        why = "" if terminal else "; there is no terminal to ask for a password or a passphrase"
        hint = "" if terminal else "add the key to an agent (`ssh-add`), or start this in a terminal; "
        return TunnelFailedError(
            f"`{command}`: the login was refused ({last}){why}", hint=f"{hint}`{command} true` must work by hand"
        )
    return TunnelFailedError(f"`{command}`: {last}", hint=f"`{command} true` must work by hand")


def explained(line: str) -> str:
    """A line of ssh's log, reworded so that it names the host that refused the forward; pure."""
    if _PROHIBITED.search(line):
        return "sshd does not allow forwarding (AllowTcpForwarding, PermitOpen, or the key's restrictions)"
    found = _OPEN_FAILED.search(line)
    return f"from the SSH host: {found[1].removeprefix('connect failed: ')}" if found else line


def has_terminal() -> bool:
    """Whether ssh can prompt: it opens the controlling terminal itself."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
