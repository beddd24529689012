"""The checks, one module for each family. A check takes evidence and yields findings; importing the package registers
all.

To add a check, write a function with `@check` in the module of its family; its docstring is its page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from brokernat.doctor.checks.registry import REGISTERED, Check, Need

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

CHECKS: tuple[Check, ...] = tuple(REGISTERED[code] for code in sorted(REGISTERED))
"""All checks, in the order of their codes."""

__all__ = ["CHECKS", "Check", "Need", "catalogue", "page"]


@cache
def catalogue() -> Mapping[str, Check]:
    """Every check by its code, in their order."""
    return {check.code: check for check in CHECKS}


def page(code: str) -> str:
    """The path of a code's page, relative to the root of the sources."""
    return f"docs/reference/codes/{code}.md"
