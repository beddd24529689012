"""Where a chain ends, and what evidence keeps of a certificate."""

from __future__ import annotations

from typing import Any

import pytest

from brokernat.doctor.evidence import Presented
from brokernat.doctor.probes.chain import ends_in_a_root, presented


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
