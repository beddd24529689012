"""Boxes, arrows and the positions of their text; pure.

The font is monospaced, because the width of its text is known; East Asian letters are two columns wide. An arrow to an
unreachable endpoint is dashed and has a mark, so the picture is readable without colours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from unicodedata import east_asian_width

from brokernat.doctor.diagnosis.model import State

LINE, PAD = 15, 10
_CHARACTER = 7.25
_LINES = 3
_WORDS = 17
Text = tuple[str, float, float, str]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: a heading, lines in the font of endpoints, a small line below. `title` is the whole text."""

    x: float
    y: float
    width: float
    head: str = ""
    lines: tuple[str, ...] = ()
    foot: str = ""
    title: str = ""
    state: State = State.OK

    @property
    def height(self) -> float:
        return 2 * PAD + LINE * (bool(self.head) + len(self.lines) + bool(self.foot))

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return self.y + self.height / 2

    @property
    def texts(self) -> tuple[Text, ...]:
        """Line, x, y of its base line, and what kind of line it is."""
        kinds = [(self.head, "strong"), *((line, "mono") for line in self.lines), (self.foot, "small")]
        shown = [(line, kind) for line, kind in kinds if line]
        return tuple(
            (line, self.x + PAD, self.y + PAD + LINE * (n + 0.75), kind) for n, (line, kind) in enumerate(shown)
        )


@dataclass(frozen=True, slots=True)
class Arrow:
    """A straight line; `words` and `code` are beside its middle; with `ends` it has a head."""

    x1: float
    y1: float
    x2: float
    y2: float
    state: State = State.OK
    words: str = ""
    code: str = ""
    ends: bool = True

    @property
    def marked(self) -> bool:
        """Whether it has a mark: it is broken or doubtful, and not a part of a longer line."""
        return self.state is not State.OK

    @property
    def mark(self) -> tuple[float, float]:
        return (self.x1 + self.x2) / 2, (self.y1 + self.y2) / 2

    @property
    def texts(self) -> tuple[Text, ...]:
        """Line, x, y of its base line, and the anchor: above and below a level arrow, to the right of a steep one."""
        x, y = self.mark
        if self.x1 == self.x2:
            beside = " ".join(filter(None, (self.words, self.code)))
            return ((beside, x + 18, y + 4, "start"),) if beside else ()
        lines = _in_two(self.words)
        off = 14 if self.marked else 7
        above = [(line, x, y - off - 13 * (len(lines) - 1 - n), "middle") for n, line in enumerate(lines)]
        return (*above, (self.code, x, y + off + 10, "middle")) if self.code else tuple(above)


@dataclass(slots=True)
class Picture:
    """Everything to draw; `headings` are x and text."""

    width: float
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    headings: tuple[tuple[float, str], ...] = ()


def folded(text: str, width: float) -> tuple[str, ...]:
    """An endpoint in lines that fit into a box of this width; one that is too long has an ellipsis in its middle."""
    columns = int((width - 2 * PAD) / _CHARACTER)
    if any(east_asian_width(each) in "WF" for each in text):
        columns //= 2
    room = columns * _LINES
    if len(text) > room:
        text = f"{text[: room // 2 - 1]}…{text[len(text) - (room - room // 2) :]}"
    return tuple(text[start : start + columns] for start in range(0, len(text), columns))


def _in_two(words: str) -> tuple[str, ...]:
    if len(words) <= _WORDS:
        return (words,) if words else ()
    cut = words.rfind(" ", 0, _WORDS + 1)
    return (words[:cut], words[cut + 1 :])
