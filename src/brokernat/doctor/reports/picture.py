"""The picture of the report: bootstrap servers, what they name, what a client dials, who answers; pure.

`wide` reads from left to right; `tall` is the same for a narrow screen, from top to bottom. Bootstrap servers that name
the same brokers share a line to these. Where they do not name the same ones, a broken line stands between the sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from brokernat.doctor.diagnosis.model import Group, State
from brokernat.doctor.reports.drawing import Arrow, Box, Picture, folded
from brokernat.doctor.reports.rows import Door, Row, doors, rows

_GAP, _GROUP_GAP, _TOP, _BELOW = 18, 34, 32, 8
# x and width of the four columns; the room between them is for words beside arrows.
_DOOR, _TOLD, _DIAL, _WHO = (0, 204), (258, 196), (544, 196), (850, 110)
_TALL, _STEP = 340, 44
_SPINE = 22


def wide(groups: Sequence[Group], apart: tuple[str, str] | None = None) -> Picture:
    """From left to right; `apart` are words and code of a finding about sets that differ."""
    names = ("bootstrap servers", "what they name", "what clients dial", "who answers")
    picture = Picture(sum(_WHO))
    picture.headings = tuple((column[0], name) for column, name in zip((_DOOR, _TOLD, _DIAL, _WHO), names, strict=True))
    y: float = _TOP
    for number, group in enumerate(groups):
        y = _between(picture, y, apart if group.routes else None) if number else y
        y = _wide_group(picture, doors(group), rows(group.routes), y)
    picture.height = y + _BELOW
    return picture


def tall(groups: Sequence[Group], apart: tuple[str, str] | None = None) -> Picture:
    """From top to bottom."""
    picture = Picture(_TALL)
    y: float = 0
    for number, group in enumerate(groups):
        y = _between(picture, y, apart if group.routes else None) if number else y
        y = _tall_group(picture, doors(group), rows(group.routes), y)
    picture.height = y + _BELOW
    return picture


def _between(picture: Picture, y: float, apart: tuple[str, str] | None) -> float:
    if apart is None:
        return y + _GROUP_GAP
    middle = y + _GROUP_GAP
    picture.arrows.append(Arrow(0, middle, picture.width, middle, State.BROKEN, *apart, ends=False))
    return middle + _GROUP_GAP


def _wide_group(picture: Picture, entrances: Sequence[Door], ways: Sequence[Row], top: float) -> float:
    left = _stacked(entrances, 0, _DOOR[1])
    told = [Box(_TOLD[0], 0, _TOLD[1], way.head, folded(way.advertised, _TOLD[1]), "", way.advertised) for way in ways]
    dial = [
        None if way.dialled is None else Box(_DIAL[0], 0, _DIAL[1], "", folded(way.dialled, _DIAL[1])) for way in ways
    ]
    heights = [max(box.height, other.height if other else 0) for box, other in zip(told, dial, strict=True)]
    rows_height = sum(heights) + _GAP * (len(heights) - 1) if heights else 0
    height = max(left[-1].y + left[-1].height, rows_height)
    left = _stacked(entrances, top + (height - left[-1].y - left[-1].height) / 2, _DOOR[1])
    picture.boxes += left
    if not ways:
        for box in left:
            picture.arrows.append(Arrow(sum(_DOOR), box.middle, _TOLD[0] + 60, box.middle, box.state, ends=False))
        return top + height
    y = top + (height - rows_height) / 2
    bus = (sum(_DOOR) + _TOLD[0]) / 2
    middles = [box.middle for box in left]
    for way, tallness in zip(ways, heights, strict=True):
        middles.append(y + tallness / 2)
        picture.arrows.append(Arrow(bus, middles[-1], _TOLD[0], middles[-1]))
        _wide_row(picture, way, middles[-1])
        y += tallness + _GAP
    picture.arrows += [
        *(Arrow(sum(_DOOR), box.middle, bus, box.middle, box.state, ends=False) for box in left),
        Arrow(bus, min(middles), bus, max(middles), ends=False),
    ]
    return top + height


def _wide_row(picture: Picture, way: Row, middle: float) -> None:
    def centred(column: tuple[int, int], head: str, text: str, state: State = State.OK) -> Box:
        x, width = column
        box = Box(x, 0, width, head, folded(text, width), "", text or head, state)
        return Box(x, middle - box.height / 2, width, head, box.lines, "", box.title, state)

    code = "".join(way.codes[:1])
    picture.boxes.append(centred(_TOLD, way.head, way.advertised))
    if way.dialled is None:
        picture.arrows.append(
            Arrow(sum(_TOLD), middle, _DIAL[0], middle, way.choice.state, way.choice.words, code, ends=False)
        )
        return
    words = "" if way.reach.state is State.OK else way.reach.words
    picture.arrows += [
        Arrow(sum(_TOLD), middle, _DIAL[0], middle, way.choice.state, way.choice.words),
        Arrow(sum(_DIAL), middle, _WHO[0], middle, way.reach.state, words, code),
    ]
    picture.boxes += [centred(_DIAL, "", way.dialled), centred(_WHO, way.answering, "", way.reach.state)]


def _tall_group(picture: Picture, entrances: Sequence[Door], ways: Sequence[Row], top: float) -> float:
    left = _stacked(entrances, top, _TALL)
    picture.boxes += left
    bottom = left[-1].y + left[-1].height

    def down(head: str, text: str, state: State = State.OK, words: str = "", code: str = "") -> None:
        nonlocal bottom
        box = Box(0, bottom + _STEP, _TALL, head, folded(text, _TALL), "", text or head, state)
        picture.arrows.append(Arrow(_SPINE, bottom, _SPINE, box.y, state, words, code))
        picture.boxes.append(box)
        bottom = box.y + box.height

    for number, way in enumerate(ways):
        code = "".join(way.codes[:1])
        if number:
            told = Box(0, bottom + _GROUP_GAP, _TALL, way.head, folded(way.advertised, _TALL), "", way.advertised)
            picture.boxes.append(told)
            bottom = told.y + told.height
        else:
            down(way.head, way.advertised)
        if way.dialled is None:
            picture.arrows.append(
                Arrow(_SPINE, bottom, _SPINE, bottom + _STEP, way.choice.state, way.choice.words, code, ends=False)
            )
            bottom += _STEP
        else:
            down("", way.dialled, words=way.choice.words)
            words = "" if way.reach.state is State.OK else way.reach.words
            down(f"{way.answering} answers", "", way.reach.state, words, code)
    return bottom


def _stacked(entrances: Sequence[Door], top: float, width: float) -> list[Box]:
    found: list[Box] = []
    for each in entrances:
        y = found[-1].y + found[-1].height + _GAP if found else top
        found.append(Box(0, y, width, "", folded(each.head, width), each.words, each.head, each.state))
    return found
