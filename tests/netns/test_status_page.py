"""The status page of a run in a real browser, served by the real server; no Spark and no broker.

No network is needed, only Debian's Chromium, as for the doctor's page.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

import pytest
from playwright.sync_api import Browser
from tests.netns.pages import SCREENS, TEXTS, Text, contrast, opened
from tests.unit.pipelines.status.runs import PIPELINE, row, running
from tests.unit.pipelines.status.test_server import free_port

from brokernat.address import Endpoint
from brokernat.clients.spark import Outcome, Proof
from brokernat.pipelines.progress import PartitionProgress
from brokernat.pipelines.status import RunStatus
from brokernat.pipelines.status.board import DeadLetterView, ShownDeadLetter, StatusBoard
from brokernat.pipelines.status.server import serving

pytestmark = pytest.mark.netns

NOW = time.time()
BUSY = "Getting offsets from KafkaV2[Subscribe[orders]]"
EVIL = "<script>document.title='taken'</script><img src=//192.0.2.1/x>"


def letters() -> DeadLetterView:
    at = NOW - 90
    value = '{"order_id": "o7", "customer_id": "c99", "amount": 12.5, "at": "2026-01-05T08:00:00Z"}'
    missing = "reference `customers` has no `customer_id` = c99"
    found = [ShownDeadLetter(at, "q1Zx/orders/2/5107", "MissingReference", missing, "c99", value, len(value))]
    found.append(ShownDeadLetter(at - 5, "q1Zx/orders/0/88", "MalformedValue", "not JSON at byte 2", None, EVIL, 65))
    found.append(ShownDeadLetter(at - 9, "q1Zx/orders/0/87", "Tombstone", "the record has no value", "k", None, 0))
    found.append(ShownDeadLetter(at - 9, "q1Zx/orders/0/8", "WrongType", "long " * 80, "k" * 300, "x" * 401, 9000))
    return DeadLetterView(tuple(found))


def whole() -> RunStatus:
    """Half an hour of a run, with a jam in the middle."""
    status = running(180, NOW - 1800)
    jam = [replace(s, lag=(s.lag or 0) + max(0, 40_000 - abs(n - 90) * 1000)) for n, s in enumerate(status.samples)]
    return replace(status.followed(status.progress, None, NOW), samples=tuple(jam), progressed_at=NOW + 3600)


def many() -> RunStatus:
    status = whole()
    places = tuple(PartitionProgress("orders." + "long-name-" * 8, n, 10**12, 10**12 + n) for n in range(120))
    proof = Proof(tuple(row(str(n), node, Outcome.NOT_PROVABLE) for n in range(40) for node in (1, 2)))
    return replace(status.proved(proof), progress=replace(status.progress, partitions=places))


STATES = {
    "whole": whole,
    "starting": lambda: RunStatus.of(PIPELINE, NOW),
    "stalled": lambda: replace(whole(), progressed_at=NOW - 700, activity=BUSY),
    "failed": lambda: whole().ended(EVIL),
    "many": many,
}


@contextmanager
def served(status: RunStatus) -> Iterator[str]:
    board = StatusBoard(PIPELINE)
    board.status, board.dead_letters = status, letters
    endpoint = Endpoint("127.0.0.1", free_port())
    with serving(endpoint, board):
        yield f"http://{endpoint}/"


@pytest.mark.parametrize("state", STATES)
def test_on_every_screen(browser: Browser, state: str) -> None:
    with served(STATES[state]()) as url:
        for width, scheme in SCREENS:
            page, asked = opened(browser, url, width, scheme)
            page.wait_for_selector("#made:not(:empty)", state="attached")
            if state != "starting":
                page.wait_for_selector(".letter strong")
                assert page.locator(".letter").count() == 4
            parts = {"page.css", "page.js", "status.json", "dead-letters.json"}
            assert {each.removeprefix(url) for each in asked} <= parts
            assert page.title().startswith("tags: ")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
            page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", ["whole", "stalled"])
def test_every_text_stands_out(browser: Browser, state: str, scheme: Literal["light", "dark"]) -> None:
    with served(STATES[state]()) as url:
        page, _ = opened(browser, url, 1200, scheme)
        page.wait_for_selector(".letter strong")
        texts: list[Text] = page.evaluate(TEXTS)
        page.close()
    assert len(texts) > 60
    faint = {each["text"]: contrast(each["colour"], each["below"]) for each in texts}
    assert {text: ratio for text, ratio in faint.items() if ratio < 4.5} == {}


def test_it_says_what_is_wrong_and_that_nobody_answers_any_more(browser: Browser) -> None:
    with served(STATES["stalled"]()) as url:
        page, _ = opened(browser, url, 1200, "light")
        page.wait_for_selector("h1:text-is('Not healthy')")
        assert "Getting offsets from KafkaV2" in page.inner_text("#activity")
        cells = page.inner_text("#routes tbody tr >> nth=0").split("\t")
        assert cells == ["hq", "1", "192.168.1.23:9092 → 172.10.1.40:9093", "✓ driver, 1"]
    page.wait_for_selector("h1:text-is('No answer')")
    assert "✓ driver, 1" in page.inner_text("#routes"), "the last state stays"
    page.close()
