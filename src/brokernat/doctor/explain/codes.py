"""Parses codes as users type them: `BN302`, `bn302`, `BN-302`, several separated by commas or blanks; pure.

`checks.catalogue` has the meaning of a code, from the check's docstring.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from brokernat.doctor.checks import Check, catalogue
from brokernat.errors import ConfigError, Finding

_CODE = re.compile(r"bn-?\d{1,4}", re.IGNORECASE)
_ALIKE = 0.7


def codes_in(text: str) -> list[str] | None:
    """The codes of a text that contains only codes, as the catalogue writes them; None for any other text."""
    words = [word for word in re.split(r"[\s,;]+", text) if word]
    if not words or not all(map(_CODE.fullmatch, words)):
        return None
    return list(dict.fromkeys(word.upper().replace("-", "") for word in words))


def entries_of(codes: list[str]) -> list[Check]:
    """The catalogue's entry of each code.

    Raises:
        ConfigError: code `unknown-code` for every unknown code, with similar ones.
    """
    known = catalogue()
    unknown = [_unknown(code) for code in codes if code not in known]
    if unknown:
        raise ConfigError(*unknown)
    return [known[code] for code in codes]


def _unknown(code: str) -> Finding:
    codes = list(catalogue())
    # Codes with the same first digits come first: the group is more often right than the last digit.
    close = [each for each in codes if each.startswith(code[:-1])] or get_close_matches(code, codes, 3, _ALIKE)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(codes)}"
    return Finding("unknown-code", f"no check has the code `{code}`", hint)
