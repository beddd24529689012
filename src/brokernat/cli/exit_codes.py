"""Exit codes: one table for all commands, also the source of the reference page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from brokernat.errors import Finding, Severity

INTERNAL: Final = 1
USAGE: Final = 2
WARNINGS: Final = 4
FINDINGS: Final = 5
INCOMPLETE: Final = 6
EXEC_FAILED: Final = 125
INTERRUPTED: Final = 130
READER_GONE: Final = 141

TABLE = {
    "0": "Done; nothing found at or above `--fail-on`.",
    "1": "Internal error: a bug. The message says what to report.",
    "2": "Wrong usage or configuration, or something that this machine lacks.",
    "3": "Nothing reachable: no bootstrap server accepts clients (`doctor`, `discover`), or no `tunnel` can be opened.",
    "4": "Warnings found, only with `--fail-on warning`.",
    "5": "Findings, or a refusal: `doctor`, `map check`, `config check`; `discover` with a node that is not found; "
    "`explain` without a known line; `map translate` of an endpoint without a rule; a failed check of executors; "
    "`render` of a rule that the target cannot express; a bundle with changed files.",
    "6": "Data incomplete: records are missing, or undelivered at the end.",
    "125": "`exec`, and `tunnel` with a command: brokernat's own failure. Any other code is the program's.",
    "126": "`exec`, and `tunnel` with a command: the program exists but cannot be started.",
    "127": "`exec`, and `tunnel` with a command: the program is not found.",
    "130": "Stopped by Ctrl-C after the current batch.",
    "141": "The reader of stdout has closed it (`| head`).",
    "143": "Stopped by SIGTERM after the current batch.",
}


def findings_code(findings: Iterable[Finding], fail_on: str) -> int:
    """The exit code for findings: 5 with errors, 4 with warnings if they count, else 0."""
    found = {finding.severity for finding in findings}
    if Severity.ERROR in found:
        return FINDINGS
    return WARNINGS if Severity.WARNING in found and fail_on == "warning" else 0
