"""The doctor in worlds that it was not prepared for: the command's report is held against what an expert demands.

One world of each quick class belongs to the gate; the soak draws others, from all classes and their variants, for as
long as it may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from tests.conftest import Soak
from tests.netns.doctor_worlds.demand import Grade
from tests.netns.doctor_worlds.kinds import HEALED, dns
from tests.netns.doctor_worlds.report import Report
from tests.netns.doctor_worlds.site import Site
from tests.netns.doctor_worlds.table import KINDS, Kind, World, changed

pytestmark = pytest.mark.netns

TRIES = 3
"""Of a world with chance in it, one of which must be right; none may be an all-clear or an accusation."""
OLDEST = "2.4.1"
"""Brokers with ZooKeeper, which tell less of themselves."""
IN_THE_GATE = 4
"""The number of the variants that belong to it."""


def gate() -> Iterator[object]:
    for kind in KINDS.values():
        if kind.gate and not kind.slow:
            reason = kind.known_wrong
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(kind, id=kind.name, marks=marks)


@pytest.mark.parametrize("kind", list(gate()))
def test_one_world_of_each_class(kind: Kind, site: Site) -> None:
    assert faults(site, kind, kind.variant(IN_THE_GATE)) == []


def test_the_healed_site_gives_nothing(site: Site) -> None:
    with dns()(site):
        reports = [site.run(client) for client in HEALED]
    assert [said(each) for each in reports if each.exit_code or each.errors or each.warnings] == []


@pytest.mark.soak
def test_others_of_each_class(site: Site, soak: Soak) -> None:
    assert drawn(site, soak, [each for each in KINDS.values() if not each.known_wrong]) == []


@pytest.mark.soak
def test_others_of_each_class_with_old_brokers(soak: Soak) -> None:
    kinds = [each for each in KINDS.values() if not each.known_wrong and not each.kraft]
    with Site(OLDEST) as old:
        assert drawn(old, soak, kinds) == []


def drawn(site: Site, soak: Soak, kinds: Sequence[Kind]) -> list[str]:
    """What is wrong with the reports of worlds that are drawn for as long as it may go on."""
    wrong: list[str] = []
    for number in soak.rounds():
        dice = soak.random(number)
        kind = dice.choice(kinds)
        wrong += faults(site, kind, kind.variant(dice.randrange(1_000_000)))
    return wrong


def faults(site: Site, kind: Kind, world: World) -> list[str]:
    """What is wrong with the report; with chance in the world, with the best of a few."""
    found: list[str] = []
    for _ in range(TRIES if kind.chance else 1):
        with changed(site, world):
            report = site.run(world.client)
        grade, wrong = world.demand.grade(report)
        if grade is Grade.RIGHT:
            return []
        found.append(f"{kind.name}, {world.what}: {grade}: {'; '.join(wrong)}\n{said(report)}")
        if grade in (Grade.FALSE_ALL_CLEAR, Grade.FALSE_ACCUSATION):
            break
    return found[-1:]


def said(report: Report) -> str:
    """A report in short."""
    lines = [f"exit {report.exit_code} after {report.seconds:.1f} s: {report.headline}"]
    lines += [
        f"  {each['severity']} {each['code']} {each['subject']}: {each['message']}"
        for each in report.errors + report.warnings
    ]
    return "\n".join(lines)
