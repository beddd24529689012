"""The child takes this process's place: `execve(2)`, no supervisor.

So the terminal, job control, every signal and the exit code are the child's by the kernel's doing, and there is
nothing that could end differently. Python's own changes to signals are taken back first: it ignores SIGPIPE and
SIGXFSZ, and what is ignored stays so across `execve`: behind `| head` the child would not end in silence, but complain.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from typing import NoReturn

from brokernat.clients.launch.planning import Launch
from brokernat.clients.launch.tools import PropertyFile
from brokernat.errors import ConfigError, NotExecutableError, Problem

_SHELL = "/bin/sh"


def replace_process(launch: Launch) -> NoReturn:
    """Become the child.

    Raises:
        NotExecutableError: the kernel does not start the program.
        ConfigError: of kind `descriptor-taken`, the descriptor for a file is in use.
    """
    for file in launch.files:
        _hand_over(file)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    path = str(launch.program)
    try:
        os.execve(path, launch.command, launch.environment)  # noqa: S606
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise NotExecutableError(f"`{path}` cannot be started: {error.strerror}") from None
    # A script without a first line that says who reads it: the shell's, as for execvp(3).
    os.execve(_SHELL, [_SHELL, path, *launch.command[1:]], launch.environment)  # noqa: S606


def _hand_over(file: PropertyFile) -> None:
    """In memory, readable by nobody else, gone with the last process that has it open."""
    anonymous = os.memfd_create("brokernat-client-properties", os.MFD_CLOEXEC)
    os.fchmod(anonymous, 0o600)
    os.write(anonymous, file.text.encode())
    # The lowest free one from there on, kept open across execve.
    if (got := fcntl.fcntl(anonymous, fcntl.F_DUPFD, file.descriptor)) != file.descriptor:
        os.close(got)
        raise ConfigError(Problem("descriptor-taken", f"file descriptor {file.descriptor} is in use already"))
