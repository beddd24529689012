"""The picture: what is broken is marked without colour, nothing lies on anything else, many brokers are few rows."""

from itertools import combinations

import pytest
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, reached, refused
from tests.unit.doctor.reports.test_terminal import MANY

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.diagnosis.model import State
from brokernat.doctor.evidence import Advertised, BrokerPath, Evidence
from brokernat.doctor.reports.picture import Arrow, Box, Picture, folded, rows, servers, tall, wide

LOOK = replace(reached(1, MANY[1].endpoint), brokers=MANY)
WELL = tuple(BrokerPath(each, replace(reached(each.node_id, each.endpoint), brokers=MANY)) for each in MANY)
DEAD = tuple(BrokerPath(each, refused(each.endpoint)) for each in MANY)
MANY_BROKEN = replace(WITHOUT_MAP, bootstraps=(LOOK,), paths=(*WELL[:150], *DEAD[150:]))
LONG = Advertised(1, ".".join(("a" * 60, "b" * 60, "c" * 60, "d" * 60)), 9092)
WORLDS = {
    "without-map": WITHOUT_MAP,
    "swapped": mapped({1: 2, 2: 1, 3: 3}),
    "missing": mapped({1: 1, 2: 2}),
    "mixed": replace(
        WITHOUT_MAP,
        bootstraps=(replace(WITHOUT_MAP.bootstraps[0], brokers=()), *WITHOUT_MAP.bootstraps, refused("10.0.0.1:1")),
    ),
    "many": MANY_BROKEN,
    "long": replace(
        WITHOUT_MAP, bootstraps=(replace(LOOK, brokers=(LONG,)),), paths=(BrokerPath(LONG, refused("10.0.0.1:1")),)
    ),
    "many-bootstraps": replace(WITHOUT_MAP, bootstraps=tuple(refused(f"10.0.0.{n}:1") for n in range(30)), paths=()),
}


def pictures(evidence: Evidence) -> tuple[Picture, Picture]:
    drawn = diagnose(evidence).groups
    return wide(drawn), tall(drawn)


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@pytest.mark.parametrize("world", WORLDS)
def test_boxes_stand_apart_and_inside(world: str) -> None:
    for picture in pictures(WORLDS[world]):
        assert not any(overlap(*pair) for pair in combinations(picture.boxes, 2))
        for box in picture.boxes:
            assert 0 <= box.x <= box.x + box.width <= picture.width
            assert 0 <= box.y <= box.y + box.height <= picture.height + 1
            assert len(box.texts) >= 1


def broken(picture: Picture) -> list[tuple[str, str]]:
    return [(each.words, each.code) for each in picture.arrows if each.state is State.BROKEN]


@pytest.mark.parametrize(
    ("world", "marks"),
    [
        ("without-map", [("refused", "BN302")] * 3),
        ("swapped", [("another node", "BN601")] * 2),
        ("missing", [("no rule", "BN605")]),
    ],
)
def test_broken_edges_are_marked_with_words_and_code(world: str, marks: list[tuple[str, str]]) -> None:
    for picture in pictures(WORLDS[world]):
        assert broken(picture) == marks
        assert all(each.marked for each in picture.arrows if each.state is State.BROKEN)


def test_a_way_that_is_well_has_no_mark() -> None:
    for picture in pictures(mapped({1: 1, 2: 2, 3: 3})):
        assert not any(each.marked for each in picture.arrows)
        assert {"node 1", "node 2", "node 3"} <= {box.head.removesuffix(" answers") for box in picture.boxes}


def test_between_sets_that_differ_is_a_broken_line() -> None:
    drawn = diagnose(WORLDS["mixed"]).groups
    for draw in (wide, tall):
        assert ("different listeners", "BN502") in broken(draw(drawn, ("different listeners", "BN502")))


def test_many_brokers_are_a_few_rows_the_broken_ones_first() -> None:
    shown = rows(diagnose(MANY_BROKEN).routes)
    assert [head for head, _ in shown] == [
        *(f"node {n}" for n in range(150, 155)),
        "45 more nodes",
        "node 0",
        "node 1",
        "148 more nodes",
    ]
    assert shown[5][1].advertised == "155 to 199"
    assert shown[-1][1].answering == "each node"


def test_many_bootstrap_servers_are_a_few() -> None:
    (group,) = diagnose(WORLDS["many-bootstraps"]).groups
    shown = servers(group.entrances)
    assert [head for head, *_ in shown[-2:]] == ["10.0.0.4:1", "25 more"]
    assert shown[-1][2] is State.BROKEN


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ()),
        ("kafka-1:9092", ("kafka-1:9092",)),
        ("x" * 30, ("x" * 24, "x" * 6)),
        ("a" * 72, ("a" * 24,) * 3),
    ],
)
def test_an_endpoint_is_folded(text: str, lines: tuple[str, ...]) -> None:
    assert folded(text, 196) == lines


def test_an_endpoint_that_is_too_long_keeps_both_ends() -> None:
    lines = folded(LONG.endpoint, 196)
    assert len(lines) == 3
    assert "…" in lines[1]
    assert (lines[0][0], lines[2][-5:]) == ("a", ":9092")


def test_long_words_stand_in_two_lines() -> None:
    arrow = Arrow(0, 50, 100, 50, State.BROKEN, "certificate of another name", "BN402")
    assert [line for line, *_ in arrow.texts] == ["certificate of", "another name", "BN402"]
    assert [anchor for *_, anchor in Arrow(9, 0, 9, 40, State.BROKEN, "refused", "BN302").texts] == ["start"]
