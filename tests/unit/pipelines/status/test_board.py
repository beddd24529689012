"""What the status page shows of dead letters; those of a topic are in tests/integration."""

from base64 import b64encode
from typing import Any, cast

import pytest

from brokernat.config import Cluster, Secret
from brokernat.pipelines.status.board import DeadLetterTail


def preview(client: dict[str, str | Secret], value: bytes) -> str:
    tail = DeadLetterTail(cast(Any, None), Cluster("hq", (), None, client), "dead", "tags")
    return str(tail._preview(value))


@pytest.mark.parametrize("password", [Secret("abc"), "abc"])
def test_a_password_is_masked_whether_or_not_it_is_a_reference(password: str | Secret) -> None:
    assert preview({"sasl.password": password}, b"login abc failed") == "login *** failed"


@pytest.mark.parametrize("cut_at", range(11))
def test_no_part_of_a_secret_is_shown_wherever_the_value_is_cut(cut_at: int) -> None:
    secret = "canary-1234"
    # Masking makes the long text short, so that what follows would be shown.
    long = b64encode(secret.encode() * 500)[: 4 * (400 + 16 * len(secret)) - 1 - cut_at]
    shown = preview({"sasl.password": Secret(secret)}, long + f" {secret}".encode() + b" " * 10_000)
    assert set(shown) <= set("* …")


def test_a_long_value_is_cut() -> None:
    shown = preview({"sasl.password": Secret("canary")}, b"x" * 10_000_000)
    assert shown == "x" * 400 + "…"
    assert preview({}, b"x" * 400) == "x" * 400
    assert preview({}, b"x" * 401) == preview({}, b"x" * 10_000) == "x" * 400 + "…"
