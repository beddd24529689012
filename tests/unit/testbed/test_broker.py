"""What tells the storage of one node from that of another."""

from __future__ import annotations

from brokernat.testbed.broker import new_id, of_node

WRITTEN = """\
#
#Sat Nov 21 12:00:00 UTC 2026
cluster.id=pN6mvqTmTEKqr1w7oDWVQw
directory.id=8mZcfq1sRcW7vRkZy2bYFg
node.id=1
version=1
"""


def test_node_and_directory_are_another_s_and_the_rest_stays() -> None:
    mine, theirs = WRITTEN.splitlines(), of_node(WRITTEN, 3).splitlines()
    changed = [(one, other) for one, other in zip(mine, theirs, strict=True) if one != other]
    assert [one for one, _ in changed] == ["directory.id=8mZcfq1sRcW7vRkZy2bYFg", "node.id=1"]
    assert changed[1][1] == "node.id=3"
    assert changed[0][1].startswith("directory.id=")
    assert len(changed[0][1]) == len(changed[0][0])


def test_before_3_7_a_directory_has_no_id() -> None:
    assert of_node("cluster.id=a\nnode.id=1\n", 2) == "cluster.id=a\nnode.id=2\n"


def test_an_id_is_22_characters_and_never_an_option_of_a_command_line() -> None:
    ids = {new_id() for _ in range(500)}
    assert len(ids) == 500
    assert {len(each) for each in ids} == {22}
    assert not [each for each in ids if each.startswith("-")]
