from __future__ import annotations

import logging
import threading

import pytest

from brokernat.shipping.threads import log_later
from brokernat.testbed.place import wait_until


def test_it_is_told_without_waiting_for_the_lock_of_logging(caplog: pytest.LogCaptureFixture) -> None:
    """`logging.config` joins our threads while it holds that lock."""
    with logging._lock:  # type: ignore[attr-defined]
        teller = threading.Thread(target=log_later, args=(logging.WARNING, "%d waited", 1))
        teller.start()
        teller.join(60)
        assert not teller.is_alive()
    wait_until(lambda: "1 waited" in caplog.text, "the message", timeout=60)
