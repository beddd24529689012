"""The file without a name; becoming the child is tested with processes, in tests/integration/exec/test_signals.py."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokernat.clients.launch.kinds import Kind
from brokernat.clients.launch.planning import Launch
from brokernat.clients.launch.replacing import replace_process
from brokernat.clients.launch.tools import PropertyFile
from brokernat.errors import ConfigError, NotExecutableError

# A number that nothing else of a long test run has reached.
FILE = PropertyFile(700, "about", "a=canary\n")


@pytest.fixture(autouse=True)
def _signals_of_this_process() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_login_is_in_memory_readable_by_its_owner_and_inherited(tmp_path: Path) -> None:
    # A directory is found by nobody's PATH and started by no kernel: everything before the last step is done.
    launch = Launch(tmp_path, ("x",), Kind.OTHER, {}, (), (FILE,), ())
    try:
        with pytest.raises(NotExecutableError, match="Permission denied"):
            replace_process(launch)
        assert Path(FILE.path).read_text() == FILE.text
        assert stat.S_IMODE(Path(FILE.path).stat().st_mode) == 0o600
        assert os.get_inheritable(FILE.descriptor)
        assert str(Path(FILE.path).readlink()).startswith("/memfd:")
        with pytest.raises(ConfigError, match="descriptor 700 is in use"):
            replace_process(launch)
    finally:
        os.close(FILE.descriptor)
