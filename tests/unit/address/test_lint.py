import pytest

from brokernat.address import AddressMap, Endpoint, lint


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a:1=x:1,b:1=y:1", []),
        ("a:1=a:1", []),
        ("10.0.0.0/8=10.0.0.0/8", []),
        ("a:1=x:1,A.:1=X:1", [("duplicate-rule", "warning", (0, 1))]),
        ("a:1=x:1,b:1=y:1,a:1=z:1", [("contradicting-rule", "error", (0, 2))]),
        ("a=x,a:1=y:1", [("shadowed-rule", "error", (0, 1))]),
        ("a:1=y:1,a=x", []),
        ("10.0.0.0/8=11.0.0.0/8,10.1.0.0/16=12.1.0.0/16", [("shadowed-rule", "error", (0, 1))]),
        ("10.1.0.0/16=12.1.0.0/16,10.0.0.0/8=11.0.0.0/8", []),
        ("10.0.0.0/8=11.0.0.0/8,10.0.0.1:9092=gw:1", [("shadowed-rule", "error", (0, 1))]),
        ("*.hq=gw,a.hq:1=gw2:1", [("shadowed-rule", "error", (0, 1))]),
        ("*.hq:1=gw:{1+id},a.hq:1=gw2:1", [("shadowed-rule", "error", (0, 1))]),
        ("a:1=b:1,b:1=c:1", [("chained-rule", "warning", (1, 0))]),
        ("a:1=b:1,b=c", [("chained-rule", "warning", (1, 0))]),
        ("a=b,b:1=c:1", []),
        ("a:1=10.0.0.7:1,10.0.0.0/8=11.0.0.0/8", [("chained-rule", "warning", (1, 0))]),
        ("a:1=x:1,b:1=x:1", [("shared-target", "warning", (0, 1))]),
        ("a=x,b=x", [("shared-target", "warning", (0, 1))]),
        ("a:1=x:1,a:1=y:1,b:1=y:1", [("contradicting-rule", "error", (0, 1))]),
        ("10.0.0.0/24=10.9.0.0/24,10.1.0.0/24=10.9.0.0/24", [("shared-target", "warning", (0, 1))]),
    ],
)
def test_findings(text: str, found: list[tuple[str, str, tuple[int, ...]]]) -> None:
    assert [(f.code, str(f.severity), f.rules) for f in lint(AddressMap.parse(text))] == found


def test_of_two_rules_that_lead_to_each_other_one_is_removed() -> None:
    """To follow them to the end would lead back to the advertised endpoint."""
    hints = [finding.hint for finding in lint(AddressMap.parse("a:1=b:1,b:1=a:1"))]
    assert set(hints) == {"each leads to the other one: remove the rule whose sides are exchanged"}


def test_findings_name_both_rules_and_say_what_to_do() -> None:
    (finding,) = lint(AddressMap.parse("a=x,a:1=y:1"))
    assert "`a=x`" in finding.message
    assert "`a:1=y:1`" in finding.message
    assert finding.hint == "put the narrower rule first"


@pytest.mark.parametrize(
    ("text", "servers", "reverse"),
    [
        ("gw:9094=192.168.1.24:9092", "gw:9093", ["192.168.1.24:9092 = gw:9094"]),
        ("10.1.0.1=10.9.0.1,10.9.0.1:9094=10.1.0.2:9092", "10.9.0.1:9094", ["10.1.0.2:9092 = 10.9.0.1:9094"]),
        ("10.1.1.0/24=10.9.0.0/24,10.9.0.0/24=10.1.0.0/24", "10.9.0.7:1", ["10.1.0.0/24 = 10.9.0.0/24"]),
        ("gw:1=kafka-1:9,gw:2=kafka-2:9", "gw:1", ["kafka-1:9 = gw:1", "kafka-2:9 = gw:2"]),
        # A broker's name is the bootstrap server, because its certificate has no other.
        ("kafka-1.hq.internal:9092=172.10.1.40:9093", "kafka-1.hq.internal:9092", []),
        ("kafka-1:9092=gw:9093,kafka-2:9092=gw:9094,kafka-3:9092=gw:9095", "kafka-1:9092,kafka-2:9092", []),
        ("10.1.0.0/24=10.9.0.0/24", "10.1.0.7:9092", []),
        ("192.168.1.23:9092=gw:9093", "gw:9093", []),
        ("gw:9092=gw:9093", "gw:9093", []),
        ("gw-1=gw-2", "gw-1:9092,gw-2:9092", []),
        ("*.hq.internal=gw", "kafka-1.hq.internal:9092", []),
        ("gw:9093=192.168.1.23:9092", "", []),
    ],
)
def test_rules_with_their_sides_exchanged(text: str, servers: str, reverse: list[str]) -> None:
    endpoints = [Endpoint.parse(server) for server in filter(None, servers.split(","))]
    found = [each for each in lint(AddressMap.parse(text), endpoints) if each.code == "reversed-rule"]
    assert [str(finding.hint).split("`")[-2] for finding in found] == reverse


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a:1=b:1,b:1=c:2", "write `a:1 = c:2`"),
        ("a:1=b:1,b=c", "write `a:1 = c:1`"),
        ("a=b,b=[fd00::1]", "write `a = [fd00::1]`"),
        ("a=10.0.0.7,10.0.0.0/8=11.0.0.0/8", "write the final target"),
    ],
)
def test_a_chain_is_answered_by_the_rule_that_was_meant(text: str, hint: str) -> None:
    (finding,) = lint(AddressMap.parse(text))
    assert str(finding.hint).startswith(f"an endpoint is translated only once: {hint}, or")
