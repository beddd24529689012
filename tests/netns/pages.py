"""Pages in a real browser: wide and narrow, light and dark; what they load, and whether each text can be read."""

from __future__ import annotations

from typing import Literal, TypedDict

from playwright.sync_api import Browser, Page

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


class Text(TypedDict):
    text: str
    colour: str
    below: str


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
