"""PEM as people have it, made what OpenSSL takes; pure.

Kafka finds the blocks by a pattern, so a text may have prose around them, letters of any language, and a block on one
line with blanks where lines end, as in a Java properties file. OpenSSL wants lines, and Python ASCII.
"""

from __future__ import annotations

import re
import textwrap

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LINE = 64


def blocks(text: str, ending: str) -> list[str]:
    """The blocks whose kind ends so, `CERTIFICATE` or `PRIVATE KEY`, each as lines."""
    return [_lines(kind, body) for kind, body in _BLOCK.findall(text) if kind.endswith(ending)]


def _lines(kind: str, body: str) -> str:
    # A key of old has headers of its own, and is left as it is.
    content = body.strip() if ":" in body else "\n".join(textwrap.wrap("".join(body.split()), _LINE))
    return f"-----BEGIN {kind}-----\n{content}\n-----END {kind}-----\n"
