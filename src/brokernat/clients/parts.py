"""Part: one property on its way from Kafka's vocabulary into a library's."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """A name that tables know, and its text. `written` is the property of the file that it comes from."""

    name: str
    text: str = field(repr=False)
    written: str
    secret: bool = False
