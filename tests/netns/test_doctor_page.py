"""The doctor's page in a real browser: wide and narrow, light and dark, printed; nothing loaded, refused or cut.

No network is needed, only Debian's Chromium, which is why it stands among the tests that may install packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser
from tests.netns.pages import SCREENS, TEXTS, Text, contrast, opened
from tests.unit.doctor.conftest import WITHOUT_MAP, mapped
from tests.unit.doctor.reports.test_html import MIXED, NOTHING, named
from tests.unit.doctor.reports.test_picture import LONG, MANY_BROKEN

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.reports.html import html_page

pytestmark = pytest.mark.netns

WORLDS = {
    "without-map": WITHOUT_MAP,
    "missing": mapped({1: 1, 2: 2}),
    "healthy": mapped({1: 1, 2: 2, 3: 3}),
    "mixed": MIXED,
    "nothing": NOTHING,
    "many": MANY_BROKEN,
    "long": named(LONG.host),
    "east": named("例え" * 30),
    "evil": named("<script>document.title='taken'</script><img src=//192.0.2.1/x>"),
}
SHOWN = "[...document.querySelectorAll('svg.picture')].filter(each => each.getClientRects().length)"
# Texts of the picture that stick out of their box or of the picture.
CUT = f"""() => {SHOWN}.flatMap(picture => [...picture.querySelectorAll('text')].filter(text => {{
  const inner = text.getBBox(), box = text.closest('.box');
  const outer = box ? box.querySelector('rect').getBBox() : picture.viewBox.baseVal;
  return inner.x < outer.x || inner.x + inner.width > outer.x + outer.width
    || inner.y < outer.y || inner.y + inner.height > outer.y + outer.height;
}}).map(text => text.textContent))"""
# Words beside arrows that lie on a box or on one another.
COVERED = f"""() => {SHOWN}.flatMap(picture => {{
  const words = [...picture.querySelectorAll('.words')].map(each => [each.textContent, each.getBBox()]);
  const boxes = [...picture.querySelectorAll('rect')].map(each => ['a box', each.getBBox()]);
  const overlap = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width
    && one.y < other.y + other.height && other.y < one.y + one.height;
  return words.flatMap(([text, at], n) => [...boxes, ...words.slice(n + 1)]
    .filter(([_, other]) => overlap(at, other)).map(([other]) => `${{text}} on ${{other}}`));
}})"""


@pytest.fixture
def saved(tmp_path: Path) -> Any:
    def save(evidence: Evidence) -> str:
        file = tmp_path / "report.html"
        file.write_text(html_page(diagnose(evidence)), "utf-8")
        return file.as_uri()

    return save


@pytest.mark.parametrize("world", WORLDS)
def test_on_every_screen(browser: Browser, saved: Any, world: str) -> None:
    url = saved(WORLDS[world])
    for width, scheme in SCREENS:
        page, asked = opened(browser, url, width, scheme)
        assert asked == []
        assert page.title().startswith(("hq: ", "<script>", "例え", LONG.host[:20]))
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        assert page.locator("svg.wide").is_visible() == (width > 760)
        assert page.locator("svg.tall").is_visible() == (width <= 760)
        assert page.evaluate(CUT) == []
        assert page.evaluate(COVERED) == []
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("world", ["missing", "without-map"])
def test_every_text_stands_out(browser: Browser, saved: Any, world: str, scheme: Literal["light", "dark"]) -> None:
    page, _ = opened(browser, saved(WORLDS[world]), 1200, scheme)
    texts: list[Text] = page.evaluate(TEXTS)
    assert len(texts) > 60
    faint = {each["text"]: contrast(each["colour"], each["below"]) for each in texts}
    assert {text: ratio for text, ratio in faint.items() if ratio < 4.5} == {}
    page.close()


def test_a_code_leads_to_its_finding(browser: Browser, saved: Any) -> None:
    page, _ = opened(browser, saved(WITHOUT_MAP), 1200, "light")
    page.click("a.code >> nth=0")
    assert page.url.endswith("#BN302")
    assert page.locator("#BN302").is_visible()
    page.close()


def test_printed_it_is_light_and_whole(browser: Browser, saved: Any) -> None:
    page, _ = opened(browser, saved(MANY_BROKEN), 700, "dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("svg.wide").is_visible()
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll, .many, pre')].every(e => e.scrollHeight <= e.clientHeight + 1)"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
