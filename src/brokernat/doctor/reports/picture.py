"""The picture of the report: bootstrap servers, advertised endpoints, dialled endpoints, answering nodes; pure.

`wide` reads from left to right; `tall` is the same for a narrow screen, from top to bottom. Bootstrap servers that
return the same brokers share a line to them; a dashed line separates servers that return different sets.

Three brokers are three rows. Of two hundred, the first of each kind have rows and one row counts the rest; broken ones
come first, and more of them have rows.

The font is monospaced, because the width of its text is known; East Asian letters are two columns wide. An arrow to an
unreachable endpoint is dashed and has a mark, so the picture is readable without colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from unicodedata import east_asian_width

from brokernat.doctor.diagnosis.model import WORST_FIRST, Entrance, Group, Route, State
from brokernat.doctor.reports.summary import named_and_counted, names

_LINE, _PAD = 15, 10
_CHARACTER = 7.25
_LINES = 3
_WORDS = 17
Text = tuple[str, float, float, str]
_GAP, _GROUP_GAP, _TOP, _BELOW = 18, 34, 32, 8
# x and width of the four columns; the words of arrows are between them.
_COLUMNS = {
    "bootstrap servers": (0, 204),
    "advertised endpoints": (258, 196),
    "dialled endpoints": (544, 196),
    "answering node": (850, 110),
}
_SERVER, _ADVERTISED, _DIALLED, _ANSWERING = _COLUMNS.values()
_TALL, _STEP = 340, 44
_SPINE = 22
_SHOW_ALL = 8
_NAMED = {State.BROKEN: 5, State.DOUBTFUL: 4, State.OK: 2}
_SERVERS = 5


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
        return 2 * _PAD + _LINE * (bool(self.head) + len(self.lines) + bool(self.foot))

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
            (line, self.x + _PAD, self.y + _PAD + _LINE * (n + 0.75), kind) for n, (line, kind) in enumerate(shown)
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
        lines = wrap(self.words, _WORDS)
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


def wide(groups: Sequence[Group], apart: tuple[str, str] | None = None) -> Picture:
    """From left to right; `apart` holds the words and the code of a finding about sets that differ."""
    headings = tuple((x, name) for name, (x, _) in _COLUMNS.items())
    return _drawn(Picture(sum(_ANSWERING), headings=headings), _TOP, groups, apart, _wide_group)


def tall(groups: Sequence[Group], apart: tuple[str, str] | None = None) -> Picture:
    """From top to bottom."""
    return _drawn(Picture(_TALL), 0, groups, apart, _tall_group)


def _drawn(
    picture: Picture,
    y: float,
    groups: Sequence[Group],
    apart: tuple[str, str] | None,
    draw: Callable[[Picture, Group, float], float],
) -> Picture:
    """The groups below each other, with `apart` between two groups."""
    for number, group in enumerate(groups):
        if number:
            y += _GROUP_GAP
        if number and group.routes and apart is not None:
            picture.arrows.append(Arrow(0, y, picture.width, y, State.BROKEN, *apart, ends=False))
            y += _GROUP_GAP
        y = draw(picture, group, y)
    picture.height = y + _BELOW
    return picture


def _wide_group(picture: Picture, group: Group, top: float) -> float:
    ways = [(way, _wide_boxes(head, way)) for head, way in rows(group.routes)]
    heights = [max(box.height for box in boxes) for _, boxes in ways]
    rows_height = sum(heights) + _GAP * (len(heights) - 1) if heights else 0
    bottom = _bottom(_stacked(group, 0, _SERVER[1]))
    height = max(bottom, rows_height)
    left = _stacked(group, top + (height - bottom) / 2, _SERVER[1])
    picture.boxes += left
    if not ways:
        end = _ADVERTISED[0] + 60
        picture.arrows += [Arrow(sum(_SERVER), box.middle, end, box.middle, box.state, ends=False) for box in left]
        return top + height
    y = top + (height - rows_height) / 2
    bus = (sum(_SERVER) + _ADVERTISED[0]) / 2
    middles = [box.middle for box in left]
    for (way, boxes), tallness in zip(ways, heights, strict=True):
        middle = y + tallness / 2
        middles.append(middle)
        picture.arrows += [Arrow(bus, middle, _ADVERTISED[0], middle), *_wide_arrows(way, middle)]
        picture.boxes += [replace(box, y=middle - box.height / 2) for box in boxes]
        y += tallness + _GAP
    picture.arrows += [
        *(Arrow(sum(_SERVER), box.middle, bus, box.middle, box.state, ends=False) for box in left),
        Arrow(bus, min(middles), bus, max(middles), ends=False),
    ]
    return top + height


def _box(column: tuple[float, float], y: float, head: str, text: str, state: State = State.OK, foot: str = "") -> Box:
    """A box in a column, with a text folded to its width."""
    x, width = column
    return Box(x, y, width, head, folded(text, width), foot, text or head, state)


def _wide_boxes(head: str, way: Route) -> list[Box]:
    """The boxes of a row, all at its top."""
    boxes = [_box(_ADVERTISED, 0, head, way.advertised)]
    if way.dialled is not None:
        boxes += [_box(_DIALLED, 0, "", way.dialled), _box(_ANSWERING, 0, way.answering, "", way.reach.state)]
    return boxes


def _wide_arrows(way: Route, middle: float) -> list[Arrow]:
    code, choice = "".join(way.codes[:1]), way.choice
    if way.dialled is None:
        return [Arrow(sum(_ADVERTISED), middle, _DIALLED[0], middle, choice.state, choice.words, code, ends=False)]
    words = "" if way.reach.state is State.OK else way.reach.words
    return [
        Arrow(sum(_ADVERTISED), middle, _DIALLED[0], middle, choice.state, choice.words),
        Arrow(sum(_DIALLED), middle, _ANSWERING[0], middle, way.reach.state, words, code),
    ]


def _tall_group(picture: Picture, group: Group, top: float) -> float:
    left = _stacked(group, top, _TALL)
    picture.boxes += left
    bottom = _bottom(left)

    def down(head: str, text: str, state: State = State.OK, words: str = "", code: str = "") -> None:
        nonlocal bottom
        box = _box((0, _TALL), bottom + _STEP, head, text, state)
        picture.arrows.append(Arrow(_SPINE, bottom, _SPINE, box.y, state, words, code))
        picture.boxes.append(box)
        bottom = _bottom([box])

    for number, (head, way) in enumerate(rows(group.routes)):
        code, choice = "".join(way.codes[:1]), way.choice
        if number:
            picture.boxes.append(_box((0, _TALL), bottom + _GROUP_GAP, head, way.advertised))
            bottom = _bottom(picture.boxes)
        else:
            down(head, way.advertised)
        if way.dialled is None:
            end = bottom + _STEP
            picture.arrows.append(Arrow(_SPINE, bottom, _SPINE, end, choice.state, choice.words, code, ends=False))
            bottom = end
        else:
            down("", way.dialled, words=choice.words)
            words = "" if way.reach.state is State.OK else way.reach.words
            down(f"{way.answering} answers", "", way.reach.state, words, code)
    return bottom


def _stacked(group: Group, top: float, width: float) -> list[Box]:
    """The bootstrap servers below each other."""
    found: list[Box] = []
    for head, words, state in servers(group.entrances):
        y = _bottom(found) + _GAP if found else top
        found.append(_box((0, width), y, "", head, state, words))
    return found


def _bottom(boxes: Sequence[Box]) -> float:
    return boxes[-1].y + boxes[-1].height


def rows(routes: Sequence[Route]) -> list[tuple[str, Route]]:
    """Routes with their headings: all of a few, in the order of node ids; of many the worst first.

    The `advertised` of a route that counts several lists their nodes.
    """
    if len(routes) <= _SHOW_ALL:
        return [(f"node {each.node_id}", each) for each in routes]
    kinds: dict[tuple[State, str, str], list[Route]] = {}
    for route in routes:
        kinds.setdefault((route.state, route.choice.words, route.reach.words), []).append(route)
    shown: list[tuple[str, Route]] = []
    for members in sorted(kinds.values(), key=lambda members: WORST_FIRST.index(members[0].state)):
        first, rest = named_and_counted(members, _NAMED[members[0].state])
        shown += [(f"node {each.node_id}", each) for each in first]
        if rest:
            more = replace(
                rest[0],
                advertised=f"{rest[0].node_id} to {rest[-1].node_id}",
                dialled=None if rest[0].dialled is None else "in the same way",
                answering="each node" if rest[0].state is State.OK else rest[0].answering,
            )
            shown.append((f"{len(rest)} more nodes", more))
    return shown


def servers(entrances: Sequence[Entrance]) -> list[tuple[str, str, State]]:
    """Heading, words and state of each bootstrap server; of many the last row counts the rest."""
    shown, rest = named_and_counted(entrances, _SERVERS)
    found = [
        (each.endpoint, each.reach.words if each.reach.state is not State.OK else names(each), each.reach.state)
        for each in shown
    ]
    if rest:
        worst = min((each.reach.state for each in rest), key=WORST_FIRST.index)
        found.append((f"{len(rest)} more", "listed below", worst))
    return found


def folded(text: str, width: float) -> tuple[str, ...]:
    """An endpoint in lines that fit into a box of this width; one that is too long has an ellipsis in its middle."""
    columns = int((width - 2 * _PAD) / _CHARACTER)
    if any(east_asian_width(each) in "WF" for each in text):
        columns //= 2
    room = columns * _LINES
    if len(text) > room:
        text = f"{text[: room // 2 - 1]}…{text[len(text) - (room - room // 2) :]}"
    return tuple(text[start : start + columns] for start in range(0, len(text), columns))
