"""Proven rules among rules that stand there: which stay, which change, and what becomes of comments."""

from __future__ import annotations

import pytest

from brokernat.address import Endpoint, parse_rule
from brokernat.config.editing import with_rules
from brokernat.config.merging import ProvenRule

OURS = "node 1, by apiversions, proven 2026-11-21, cluster AbC"


def proven(rule: str, *advertised: str, comment: str = OURS) -> ProvenRule:
    parsed = parse_rule(rule)
    names = advertised or (rule.partition("=")[0].strip(),)
    return ProvenRule(parsed, tuple(map(Endpoint.parse, names)), comment)


ONE = proven("a:1 = gw:11")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"a:1 = gw:11  # {OURS}\n"),
        ("# mine\n", f"# mine\na:1 = gw:11  # {OURS}\n"),
        ("# mine", f"# mine\na:1 = gw:11  # {OURS}\n"),
        # Right as it is; a comment of ours is added, and stays while it says the same of another day.
        ("a:1=gw:11\n", f"a:1=gw:11  # {OURS}\n"),
        ("a:1 = gw:11 # node 1, by apiversions, proven 2025-01-01, cluster AbC\n", None),
        ("a:1 = gw:11 # node 2, by apiversions, proven 2025-01-01, cluster AbC\n", f"a:1 = gw:11  # {OURS}\n"),
        ("a:1 = gw:11 # rack 3\n", f"a:1 = gw:11  # rack 3; {OURS}\n"),
        ("a:1 = gw:11 # rack 3; node 9, by x, likely 2025-01-01\n", f"a:1 = gw:11  # rack 3; {OURS}\n"),
        # Another target.
        ("b:1 = gw:12\na:1 = gw:99 # rack 3\nc:1=gw:13\n", f"b:1 = gw:12\na:1 = gw:11  # rack 3; {OURS}\nc:1=gw:13\n"),
        # A template is for a proxy only.
        ("a:1 = gw:{10+id}\n", f"a:1 = gw:11  # {OURS}\n"),
        ("*.b:1 = gw:{10+id}\n", f"*.b:1 = gw:{{10+id}}\na:1 = gw:11  # {OURS}\n"),
        # New, behind what is there.
        ("b:1 = gw:12  # b\n", f"b:1 = gw:12  # b\na:1 = gw:11  # {OURS}\n"),
        ("b:1 = gw:12", f"b:1 = gw:12\na:1 = gw:11  # {OURS}"),
        ("b:1 = gw:12\r\n", f"b:1 = gw:12\r\na:1 = gw:11  # {OURS}\r\n"),
        # A wider rule that would lead elsewhere, and one that leads there.
        ("b:1=c:1\na = gw\n", f"b:1=c:1\na:1 = gw:11  # {OURS}\na = gw\n"),
        ("*.x = gw\n", f"*.x = gw\na:1 = gw:11  # {OURS}\n"),
        # Several rules in a line have no room for comments.
        ("b:1=c:1, a:1=gw:99, d:1=e:1\n", "b:1=c:1, a:1 = gw:11, d:1=e:1\n"),
        ("b:1=c:1, a=gw\n", "b:1=c:1, a:1 = gw:11, a=gw\n"),
    ],
)
def test_a_rules_file(before: str, after: str | None) -> None:
    assert with_rules(before, [ONE]) == (before if after is None else after)
    assert with_rules(with_rules(before, [ONE]), [ONE]) == with_rules(before, [ONE])


def test_a_wider_rule_that_does_the_same_stays() -> None:
    new = proven("10.1.0.7 = 10.9.0.7", "10.1.0.7:9092")
    assert with_rules("10.1.0.0/24 = 10.9.0.0/24  # all\n", [new]) == "10.1.0.0/24 = 10.9.0.0/24  # all\n"


def test_several_before_one_keep_their_order() -> None:
    rules = [proven("a.x:1 = gw:11"), proven("b.x:1 = gw:12")]
    lines = with_rules("*.x = gw\n", rules).splitlines()
    assert [line.partition("  #")[0] for line in lines] == ["a.x:1 = gw:11", "b.x:1 = gw:12", "*.x = gw"]


def test_a_host_rule_takes_the_place_of_the_port_that_it_covers() -> None:
    new = proven("a = b", "a:1", "a:2")
    assert with_rules("a:1 = old:1\n", [new]) == f"a = b  # {OURS}\n"


def test_a_rule_that_changes_nothing_is_not_spared_for_endpoints_that_no_rule_names() -> None:
    """Without it they are refused, unless the map lets pass what it does not name."""
    new = proven("a = a", "a:1", "a:2")
    assert with_rules("a:1 = a:1\n", [new]) == f"a = a  # {OURS}\n"


def test_exchanged_targets_are_put_right() -> None:
    rules = [proven("a:1 = gw:11"), proven("b:1 = gw:12", comment=OURS.replace("1,", "2,", 1))]
    lines = with_rules("a:1 = gw:12\nb:1 = gw:11\n", rules).splitlines()
    assert [line.partition("  #")[0] for line in lines] == ["a:1 = gw:11", "b:1 = gw:12"]
