"""A library's function with some of the names it looks up in its module replaced, the module left alone.

The libraries dial through functions of their own modules and take no hook for that. Replacing such a function in its
module would reach every client of the process; copying the method that calls it would tie us to one patch release. So
the method's own code runs, bound to one client instance, with a private set of globals in which that one name is ours.
What this asks of a version is small and can be checked: the method exists and looks the name up.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def looks_up(function: object, name: str) -> bool:
    """Whether `rebound` can replace `name` in a function."""
    return isinstance(function, FunctionType) and name in function.__code__.co_names and name in function.__globals__


def rebound(function: Callable[..., Any], **names: Any) -> FunctionType:
    """The same code and defaults with other globals; the function itself is unchanged."""
    assert isinstance(function, FunctionType)  # noqa: S101
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
