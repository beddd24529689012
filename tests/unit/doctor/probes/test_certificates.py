"""Which names a certificate has, and who takes it for a host."""

from typing import Any

import pytest

from brokernat.doctor.evidence import Presented
from brokernat.doctor.probes.certificates import certificate_names, covers, ends_in_a_root, presented, taken_by

ALL = {"java", "librdkafka", "python"}
OLD = {"subject": ((("countryName", "DE"),), (("commonName", "kafka-1.hq"),))}


@pytest.mark.parametrize(
    ("names", "host", "takers"),
    [
        (("kafka-1.hq",), "KAFKA-1.hq.", ALL),
        (("kafka-1",), "kafka-1", ALL),
        (("*.hq.internal",), "kafka-1.hq.internal", ALL),
        (("*.hq.internal",), "a.b.hq.internal", set()),
        (("*.hq.internal",), "hq.internal", set()),
        (("*.hq",), "kafka-1.hq", {"java"}),
        (("*",), "kafka-1", set()),
        (("*.",), "kafka-1", set()),
        (("kafka-*.hq.internal",), "kafka-1.hq.internal", {"java"}),
        (("k*1.hq.internal",), "kafka-1.hq.internal", {"java"}),
        (("kafka.*.hq.internal",), "kafka.a.hq.internal", {"java"}),
        (("kafka_1",), "kafka_1", {"librdkafka", "python"}),
        (("kafka-.hq",), "kafka-.hq", {"librdkafka", "python"}),
        (("xn--kfka-qoa.hq",), "xn--kfka-qoa.hq", ALL),
        (("192.168.1.23",), "192.168.1.23", ALL),
        (("192.168.1.*",), "192.168.1.23", set()),
        (("DNS:192.168.1.23",), "192.168.1.23", set()),
        (("FD00:0:0:0:0:0:0:1",), "fd00::1", ALL),
        ((), "kafka-1", set()),
    ],
)
def test_who_takes_it(names: tuple[str, ...], host: str, takers: set[str]) -> None:
    assert taken_by(names, host) == takers
    assert covers(names, host) is bool(takers)


@pytest.mark.parametrize(
    ("certificate", "names"),
    [
        ({"subjectAltName": (("DNS", "a"), ("IP Address", "10.0.0.1"), ("email", "b@c"))}, ("a", "10.0.0.1")),
        ({"subjectAltName": (("DNS", "10.0.0.1"),)}, ("DNS:10.0.0.1",)),
        (OLD, ("kafka-1.hq",)),
        ({**OLD, "subjectAltName": (("IP Address", "10.0.0.1"),)}, ("10.0.0.1", "kafka-1.hq")),
        ({**OLD, "subjectAltName": (("DNS", "a"),)}, ("a",)),
        ({"subject": ((("commonName", "10.0.0.1"),),)}, ("CN:10.0.0.1",)),
        ({}, ()),
    ],
    ids=["alternatives", "address-as-a-name", "common-name", "common-name-beside-an-address", "not", "cn", "none"],
)
def test_the_names(certificate: dict[str, object], names: tuple[str, ...]) -> None:
    assert certificate_names(certificate) == names


def certificate(subject: str, issuer: str) -> dict[str, Any]:
    """As `getpeercert` has it."""
    names = {"subject": subject, "issuer": issuer}
    return {part: ((("commonName", name),),) for part, name in names.items()}


ROOT, ISSUING, OWN = certificate("root", "root"), certificate("issuing", "root"), certificate("a", "issuing")


@pytest.mark.parametrize(
    ("anchor", "trusted", "ends"),
    [
        (ROOT, [ROOT], True),
        (ISSUING, [ISSUING], False),
        (ISSUING, [ISSUING, ROOT], True),
        (OWN, [OWN, ISSUING, ROOT], True),
        (OWN, [OWN, ROOT], False),
        (certificate("a", "b"), [certificate("a", "b"), certificate("b", "a")], False),
    ],
    ids=["root", "below", "both", "two-below", "gap", "circle"],
)
def test_ends_in_a_root(anchor: dict[str, Any], trusted: list[dict[str, Any]], ends: bool) -> None:
    assert ends_in_a_root(anchor, trusted) is ends


def test_presented_by_common_name_or_by_everything() -> None:
    dates = {"notBefore": "Jan  1 00:00:00 2020 GMT", "notAfter": "Feb  1 00:00:00 2020 GMT"}
    nameless = ((("countryName", "DE"),), (("organizationName", "HQ"),))
    assert presented({**OWN, "issuer": nameless, **dates}) == Presented(
        "a", "countryName=DE, organizationName=HQ", "2020-01-01T00:00:00+00:00", "2020-02-01T00:00:00+00:00"
    )
