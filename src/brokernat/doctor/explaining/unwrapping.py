r"""A line as it stands in a log, to the lines that the client wrote; pure.

Between a client and whoever reads its log stand terminals and collectors: colours, the JSON of docker, journald and
logback with a whole stack trace in one string, syslog's `#012` for a line end. All of that comes off first, so that the
table knows the clients' words alone. JSON is not parsed: a line may have a prefix, be cut in the middle, or hold JSON
that holds JSON. What stands in the way are escapes alone, and they are undone level by level.
"""

from __future__ import annotations

import re

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9AB]|[@-Z\\^_])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_MEANINGS = {"n": "\n", "r": "\n", "t": "\t"}
# A message and its stack say different things.
_STACK = re.compile(r'"[\w.@-]*(?:[Ss]tack|[Ee]xception|[Tt]hrown)[\w.]*":\s*"')
# kafkajs's JSON, in the message of another logger's, in docker's file.
_LEVELS = 3


def unwrapped(line: str) -> list[str]:
    """The client's lines; mostly the line itself."""
    if "\\" in line and ('{"' in line or '":' in line):
        for _ in range(_LEVELS):
            if "\\" not in line:
                break
            line = _ESCAPE.sub(_meaning, line)
        line = _STACK.sub(r"\n\g<0>", line)
    if "#012" in line:
        line = line.replace("#012", "\n").replace("#011", "\t")
    if "\x1b" in line:
        line = _COLOURS.sub("", line)
    return line.splitlines() or [line]


def _meaning(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    return chr(int(code, 16)) if code else _MEANINGS.get(letter, letter)
