"""Converts faults inside values to problems with a position in the file.

Validators raise `faults(...)`, which passes complete problems through pydantic; the table below rewords pydantic's own
errors. A message quotes an input value only if the schema lists the allowed values: other values may be secrets.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails, PydanticCustomError

from brokernat.config.document import Document, Path
from brokernat.errors import Finding

_OURS = "brokernat"
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "tuple_type": "a list",
    "mapping_type": "a mapping (`name: value`)",
    "dict_type": "a mapping (`name: value`)",
    "model_type": "a mapping (`name: value`)",
    "model_attributes_type": "a mapping (`name: value`)",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem and its path relative to the validated value; `key` if it is about the key."""

    problem: Finding
    below: tuple[str | int, ...] = ()
    key: bool = False


def faults(found: Iterable[Fault]) -> PydanticCustomError:
    """The exception for a validator to raise."""
    return PydanticCustomError(_OURS, "see faults", {"faults": tuple(found)})


def raise_all(found: Iterable[Fault]) -> None:
    """Raises `faults(...)` if there is any fault."""
    if every := tuple(found):
        raise faults(every)


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """A hint with the most similar known word, if there is one (`cutoff` as in difflib)."""
    near = nearest(word, known, cutoff)
    return f"did you mean `{near}`?" if near else None


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar known word, ignoring case, or None (`cutoff` as in difflib)."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=cutoff)
    return names[near[0]] if near else None


def translate(errors: Iterable[ErrorDetails], document: Document, model: type[BaseModel]) -> Iterator[Finding]:
    """pydantic's errors as problems of the document."""
    found = list(errors)
    misspelled = {(*path[:-1], _nearest(path, model) or path[-1]) for path in _paths(found, "extra_forbidden")}
    for error in found:
        path: Path = tuple(error["loc"])
        if error["type"] == _OURS:
            for fault in error["ctx"]["faults"]:
                place = (*path, *fault.below)
                yield fault.problem.at(document.locate(place, key=fault.key))
        elif error["type"] == "extra_forbidden":
            yield _unknown_key(path, model).at(document.locate(path, key=True))
        elif not _explained(error["type"], path, misspelled, found):
            yield _from_pydantic(error, path, model).at(document.locate(path))


def _explained(kind: str, path: Path, misspelled: set[Path], found: list[ErrorDetails]) -> bool:
    """Whether another problem is the cause: a misspelled key, or a list that is empty because its entries are wrong."""
    if kind == "missing":
        return path in misspelled
    return kind == "too_short" and any(len(e["loc"]) > len(path) and e["loc"][: len(path)] == path for e in found)


def _paths(errors: Iterable[ErrorDetails], kind: str) -> Iterator[Path]:
    return (tuple(error["loc"]) for error in errors if error["type"] == kind)


def _nearest(path: Path, model: type[BaseModel]) -> str | None:
    return nearest(str(path[-1]), keys_of(model, path[:-1]))


def _unknown_key(path: Path, model: type[BaseModel]) -> Finding:
    near = _nearest(path, model)
    known = ", ".join(f"`{key}`" for key in keys_of(model, path[:-1]))
    hint = f"did you mean `{near}`?" if near else f"known here: {known}"
    return Finding("unknown-key", f"unknown key `{path[-1]}`", hint)


def _from_pydantic(error: ErrorDetails, path: Path, model: type[BaseModel]) -> Finding:
    kind, value = error["type"], error["input"]
    name = next((step for step in reversed(path) if isinstance(step, str)), "the file")
    context = error.get("ctx", {})
    if kind == "missing":
        return Finding("missing", f"`{name}` is missing", f"add `{name}:`")
    if kind == "literal_error":
        return _not_a_choice(name, value, context["expected"])
    if kind in _TYPES:
        message = f"`{name}` must be {_TYPES[kind]}, not {_type_name(value)}"
        return Finding("wrong-type", message, _type_hint(kind, value, keys_of(model, path)))
    if kind in ("too_short", "string_too_short"):
        return Finding("empty", f"`{name}` is empty", "write a value, or leave it out where it is optional")
    if kind == "greater_than":
        return Finding("too-small", f"`{name}` must be greater than {context['gt']}", "write a larger number")
    return Finding(kind.replace("_", "-"), f"`{name}`: {error['msg']}")


def _not_a_choice(name: str, value: object, expected: str) -> Finding:
    choices = expected.replace("'", "").replace(" or ", ", ").split(", ")
    near = did_you_mean(value, choices) if isinstance(value, str) else None
    allowed = " or ".join(f"`{choice}`" for choice in choices)
    return Finding("not-a-choice", f"`{name}` must be {allowed}", near)


def _type_hint(kind: str, value: object, keys: Container[str]) -> str | None:
    key, colon, _ = value.partition(":") if isinstance(value, str) else ("", "", "")
    if colon and key in keys:
        return f"put a blank after the colon: `{key}: …`"
    if kind == "string_type" and isinstance(value, bool | int | float):
        return "put quotes around it"
    return "write a list: `[a, b]`" if kind == "tuple_type" and isinstance(value, str) else None


def _type_name(value: object) -> str:
    if value is None:
        return "empty"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}
    return names.get(type(value), "something else")


def keys_of(model: type[BaseModel], path: Path) -> list[str]:
    """The allowed keys at a path."""
    here: Any = model
    for step in path:
        fields = {info.alias or name: info.annotation for name, info in _fields(here)}
        here = (
            fields.get(str(step)) if fields else (get_args(here) or (None,))[-1 if get_origin(here) is not tuple else 0]
        )
        here = _without_none(here)
    return [info.alias or name for name, info in _fields(here)]


def _fields(here: Any) -> list[tuple[str, Any]]:
    return list(here.model_fields.items()) if isinstance(here, type) and issubclass(here, BaseModel) else []


def _without_none(annotation: Any) -> Any:
    options = [option for option in get_args(annotation) if option is not type(None)]
    return options[0] if type(None) in get_args(annotation) and options else annotation
