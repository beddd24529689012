"""The worlds that tests with network namespaces share; both are made once, when the first test asks.

Tests take topics of their own (`topic_name`) and leave the network as they found it; a test that kills brokers opens
a world of its own.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from brokernat.testbed import Between, ClusterOptions, Listener, NetnsWorld, Protocol


@pytest.fixture(scope="session")
def nginx_world() -> Iterator[NetnsWorld]:
    """Situation 1: three brokers with SASL_PLAINTEXT behind nginx on 172.10.1.40:9093-9095, and a local cluster.

    The local broker has a listener more, NAMED, that sends clients to a name.
    """
    named = Listener("NAMED", Protocol.PLAINTEXT, advertised="kafka.hq.example")
    with NetnsWorld(local=ClusterOptions(brokers=1, listeners=(named,))) as world:
        yield world


@pytest.fixture(scope="session")
def nat_world() -> Iterator[NetnsWorld]:
    """Situation 2: three brokers under 10.99.1.23-25 by the kernel's NAT, ports kept, and a local cluster."""
    with NetnsWorld(hq=ClusterOptions(protocol=Protocol.PLAINTEXT), between=Between.NFTABLES) as world:
        yield world


@pytest.fixture(scope="session")
def tls_world() -> Iterator[NetnsWorld]:
    """The first with TLS and a login; each broker's certificate is for what it advertises and nothing else."""
    with NetnsWorld(hq=ClusterOptions(brokers=2, protocol=Protocol.SASL_SSL), local=None) as world:
        yield world


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses; it says whose it is."""
    return f"{request.node.originalname}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium is not None, "install the Debian package chromium"
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root; the page is ours and loads nothing.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()
