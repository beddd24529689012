"""Servers that answer with anything: the doctor comes back in time with evidence, whatever they say."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.bent_server import TIMEOUT, Bend, bends, examine, logins, plans, versions

pytestmark = pytest.mark.property


@settings(max_examples=100, deadline=None)
@given(plan=plans, login=logins, newest=versions, sasl_says=st.binary(max_size=60))
def test_whatever_is_said_there_is_evidence(
    plan: Mapping[int, Bend], login: str, newest: int, sasl_says: bytes
) -> None:
    examine(plan, login, newest, sasl_says)


def test_what_is_not_bent_is_healthy() -> None:
    """Or the fuzz would bend something that no doctor reads."""
    evidence = examine({}, "PLAINTEXT", 5, b"", timeout=60)
    (bootstrap,) = evidence.bootstraps
    assert bootstrap.identity is not None
    assert bootstrap.identity.node_id == 1
    assert evidence.replicas == (1, 2, 3)


@settings(max_examples=20, deadline=None)
@given(bend=bends)
def test_a_first_answer_that_is_bent_still_leaves_the_connection_in_the_evidence(bend: Bend) -> None:
    # The second time for a machine that was too busy to connect at first.
    assert any(examine({0: bend}, "PLAINTEXT", 5, b"", timeout).bootstraps[0].connected for timeout in (TIMEOUT, 20))
