"""One line for each group of tests that has ended, when several processes run them: what, how long, how it went.

Dots of several processes tell nobody which test they are of. A failure gets its own line at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Sequence

import pytest
from tests.workers import group_of

Status = tuple[str, str, str | tuple[str, dict[str, bool]]]


class Progress:
    """Listens in the process that hands the tests out."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal
        self._waiting: Counter[str] = Counter()
        self._outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self._seconds: Counter[str] = Counter()
        self._tests = 0
        self._ended = 0
        self._running = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Every process tells the same list."""
        self._tests = len(ids)
        self._waiting = self._waiting or Counter(map(group_of, ids))

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Status, Status]:
        """No dots. The summary at the end needs the words again."""
        category, letter, word = yield
        return (category, "", "") if self._running else (category, letter, word)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test has ended: its setup, the test, its teardown."""
        group = group_of(report.nodeid)
        self._seconds[group] += report.duration  # type: ignore[assignment] # seconds and parts of them
        if report.failed:
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when}): {_reason(report)}", red=True)
        if report.when == "call" or not report.passed:
            self._outcomes[group][report.outcome] += 1

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        group = group_of(nodeid)
        self._ended += 1
        self._waiting[group] -= 1
        if not self._waiting[group]:
            share = 100 * self._ended // self._tests
            outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self._outcomes[group].items()))
            self._terminal.write_line(f"[{share:3}%] {self._seconds[group]:4.0f} s  {group}: {outcomes}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """From here on it is the summary that asks."""
        self._running = False


def _reason(report: pytest.TestReport) -> str:
    """The place and the first line of what was raised; the summary at the end has the whole."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return "no place is known"
    first_line, _, _ = crash.message.partition("\n")
    return f"{crash.path}:{crash.lineno}: {first_line}"
