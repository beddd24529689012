"""The doctor's page in a real browser: wide and narrow, light and dark, printed; nothing loaded, refused or cut.

No network is needed, only Debian's Chromium, which is why it stands among the tests that may install packages.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
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
SCREENS: list[tuple[int, Literal["light", "dark"]]] = [(1200, "light"), (1200, "dark"), (360, "light"), (360, "dark")]

# For each text that is seen: its words, its colour, the colour below it and its size, as the browser computed them.
TEXTS = """() => {
  const seen = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const below = (element, at) => {
    for (const each of document.elementsFromPoint(at.x + at.width / 2, at.y + at.height / 2)) {
      const style = getComputedStyle(each);
      const inside = each.tagName === 'rect' ? style.fill : 'none';
      const colour = each instanceof SVGElement ? inside : style.backgroundColor;
      if (!['none', 'transparent', 'rgba(0, 0, 0, 0)'].includes(colour)) return colour;
    }
  };
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['TITLE', 'DESC', 'STYLE'].includes(element.tagName.toUpperCase())) continue;
    element.scrollIntoView({block: 'center'});
    const range = document.createRange();
    range.selectNode(walker.currentNode);
    const at = range.getClientRects()[0];
    if (!at) continue;
    const style = getComputedStyle(element);
    seen.push({
      text: walker.currentNode.data.trim(),
      colour: element instanceof SVGElement ? style.fill : style.color,
      below: below(element, at),
    });
  }
  return seen;
}"""
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


class Text(TypedDict):
    text: str
    colour: str
    below: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium is not None, "install the Debian package chromium"
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root; the page is ours and loads nothing.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def saved(tmp_path: Path) -> Any:
    def save(evidence: Evidence) -> str:
        file = tmp_path / "report.html"
        file.write_text(html_page(diagnose(evidence)), "utf-8")
        return file.as_uri()

    return save


def opened(browser: Browser, url: str, width: int, scheme: Literal["light", "dark"]) -> tuple[Page, list[str]]:
    """The page, and what it said or asked for besides itself."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    page.on("console", lambda message: asked.append(message.text))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.on("request", lambda request: asked.append(request.url) if request.url != url else None)
    page.goto(url)
    return page, asked


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


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
