"""Thousands of servers that say anything."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from tests.conftest import Soak
from tests.property.bent_server import Bend, examine, logins, plans, versions

pytestmark = pytest.mark.soak

EXAMPLES = 100
"""Of a round, about half a minute."""


def test_no_answer_hangs_or_breaks_the_doctor(soak: Soak) -> None:
    examples = 0
    for number in soak.rounds():

        @seed(f"{soak.seed}/{number}")
        @settings(max_examples=EXAMPLES, deadline=None, database=None)
        @given(plan=plans, login=logins, newest=versions, sasl_says=st.binary(max_size=60))
        def fuzz(plan: Mapping[int, Bend], login: str, newest: int, sasl_says: bytes) -> None:
            examine(plan, login, newest, sasl_says)

        fuzz()
        examples += EXAMPLES
    assert examples >= EXAMPLES
