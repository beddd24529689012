"""The page: well-formed, complete, loads and runs nothing, and whatever a broker says is text."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped, reached, refused
from tests.unit.doctor.reports.test_json_v1 import ON_SPARK, WITH_FILES, WITH_LISTENERS

from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import Suppression, diagnose
from brokernat.doctor.evidence import Advertised, BrokerPath, EndpointProbe, Evidence
from brokernat.doctor.reports.html import html_page
from brokernat.text import printable

HEALTHY = mapped({1: 1, 2: 2, 3: 3})
MIXED = replace(
    HEALTHY,
    bootstraps=(replace(reached(1, "172.10.1.40:9098"), brokers=()), *HEALTHY.bootstraps, refused("172.10.1.40:9099")),
)
NOTHING = replace(WITHOUT_MAP, bootstraps=(refused("172.10.1.40:9093"),), paths=(), replicas=None)
WORLDS = {
    "without-map": WITHOUT_MAP,
    "swapped": mapped({1: 2, 2: 1, 3: 3}),
    "missing": mapped({1: 1, 2: 2}),
    "healthy": HEALTHY,
    "mixed": MIXED,
    "nothing": NOTHING,
    "spark": ON_SPARK,
    "listeners": WITH_LISTENERS,
    "files": WITH_FILES,
}
HEADINGS = ("h1", "h2", "h3")


def parsed(page: str) -> ET.Element:
    """The page is XML too, so that the strictest parser there is can say whether it is whole."""
    return ET.fromstring(page)


def named(host: str) -> Evidence:
    """A cluster of one broker that says this."""
    broker = Advertised(1, host, 9092)
    told = replace(WITHOUT_MAP.bootstraps[0], brokers=(broker,))
    return replace(
        WITHOUT_MAP,
        cluster=host,
        bootstraps=(told,),
        paths=(BrokerPath(broker, replace(refused("h:1"), endpoint=broker.endpoint)),),
    )


def text_of(page: str) -> str:
    return " ".join(" ".join(parsed(page).itertext()).split())


@pytest.fixture(params=WORLDS)
def page(request: pytest.FixtureRequest) -> str:
    return html_page(diagnose(WORLDS[request.param]))


def test_nothing_is_loaded_and_nothing_runs(page: str) -> None:
    for element in parsed(page).iter():
        assert element.tag not in {"script", "iframe", "object", "embed", "link", "img", "base", "form"}
        assert not any(name.startswith("on") or name in {"src", "style", "srcset"} for name in element.attrib)
        assert element.get("href", "#").startswith("#")
    assert "url(" not in page
    assert "@import" not in page


def test_the_policy_allows_the_one_style_sheet_and_nothing_else(page: str) -> None:
    root = parsed(page)
    (style,) = root.iter("style")
    (policy,) = (each.get("content") for each in root.iter("meta") if each.get("http-equiv"))
    allowed = b64encode(sha256((style.text or "").encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"


def test_links_lead_to_what_is_there_and_ids_are_unique(page: str) -> None:
    root = parsed(page)
    ids = Counter(each.get("id") for each in root.iter() if each.get("id"))
    assert set(ids.values()) == {1}
    wanted = [each.get("href", "")[1:] for each in root.iter("a")]
    wanted += [name for each in root.iter() for name in each.get("aria-labelledby", "").split()]
    assert set(wanted) <= set(ids)


def test_headings_go_down_one_step_at_a_time(page: str) -> None:
    levels = [HEADINGS.index(each.tag) for each in parsed(page).iter() if each.tag in HEADINGS]
    assert levels.count(0) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_say_in_words_what_they_show() -> None:
    root = parsed(html_page(diagnose(WITHOUT_MAP)))
    pictures = [each for each in root.iter("svg") if each.get("role") == "img"]
    assert len(pictures) == 2
    for each in pictures:
        assert "node 2 at 192.168.1.24:9092: refused" in (each.findtext("desc") or "")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "Every bootstrap server answers, and every broker is reachable."),
        ((refused("172.10.1.40:9099"),), "Broken or doubtful: bootstrap 172.10.1.40:9099: refused."),
    ],
)
def test_the_words_of_a_picture_name_what_is_not_well_and_nothing_else(
    more: tuple[EndpointProbe, ...], words: str
) -> None:
    healthy = replace(HEALTHY, bootstraps=(*HEALTHY.bootstraps, *more))
    assert [each.text for each in parsed(html_page(diagnose(healthy))).iter("desc")] == [words] * 2


def test_the_root_comes_before_the_findings_and_both_sides_are_told() -> None:
    text = text_of(html_page(diagnose(WITHOUT_MAP)))
    order = ["Root cause.", "Connections of a client", "What to do", "On the client’s side"]
    order += ["192.168.1.24:9092 = 172.10.1.40:9094", "On the brokers’ side", "Findings", "Probe results"]
    order += ["Skipped", "here is no address map", "Passed"]
    places = [text.find(each) for each in order]
    assert -1 not in places
    assert places == sorted(places)


def test_every_check_is_accounted_for(page: str) -> None:
    assert all(code in page for code in catalogue())


def test_what_is_suppressed_is_said() -> None:
    text = text_of(
        html_page(diagnose(WITHOUT_MAP, suppressions=[Suppression.parse("BN302"), Suppression.parse("BN2*")]))
    )
    assert "Root cause" not in text
    assert "Suppressed BN302 An advertised endpoint accepts no connection: node 1 at" in text


def test_a_script_that_a_broker_advertises_is_text() -> None:
    evil = '<script>alert(1)</script><img src=x onerror="alert(1)">`&amp;'
    page = html_page(diagnose(named(evil)))
    assert "<script" not in page
    assert "<img" not in page
    assert f"node 1 advertises {evil}:9092" in text_of(page)


@given(st.text(min_size=1, max_size=300))
def test_whatever_a_broker_advertises_the_page_is_whole(host: str) -> None:
    assert " ".join(printable(host).split()) in text_of(html_page(diagnose(named(host))))


def test_a_time_that_is_none_stays_as_it_is() -> None:
    assert "21 November 2026, 12:00 UTC" in html_page(diagnose(WITHOUT_MAP))
    assert "the other day" in html_page(diagnose(replace(WITHOUT_MAP, taken_at="the other day")))
