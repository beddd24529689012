"""Codes as people type them: `BN302`, `bn302`, `BN-302`, several with commas or blanks between; pure.

What a code means is said by `checks.catalogue`, which has it from the check's own docstring.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from brokernat.doctor.checks import Check, catalogue
from brokernat.errors import ConfigError, Finding

_CODE = re.compile(r"bn-?\d{1,4}", re.IGNORECASE)
_ALIKE = 0.7


def codes_in(text: str) -> list[str] | None:
    """The codes of a text that is nothing but codes, as the catalogue writes them; None for any other text."""
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words or not all(map(_CODE.fullmatch, words)):
        return None
    return list(dict.fromkeys(word.upper().replace("-", "") for word in words))


def entries_of(codes: list[str]) -> list[Check]:
    """What the catalogue says about each code.

    Raises:
        ConfigError: code `unknown-code` for every code that there is not, with those that look like it.
    """
    known = catalogue()
    unknown = [_unknown(code) for code in codes if code not in known]
    if unknown:
        raise ConfigError(*unknown)
    return [known[code] for code in codes]


def _unknown(code: str) -> Finding:
    codes = list(catalogue())
    # By the first digits first: the group is more often right than the last digit.
    close = [each for each in codes if each.startswith(code[:-1])] or get_close_matches(code, codes, 3, _ALIKE)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(codes)}"
    return Finding("unknown-code", f"no check has the code `{code}`", hint)
