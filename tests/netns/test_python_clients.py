"""Situation 1 for kafka-python and aiokafka: the client can reach nginx and nothing else, the brokers want
SASL_PLAINTEXT."""

from pathlib import Path

import pytest
from tests.integration.python_clients.conftest import Orders
from tests.integration.python_clients.expectations import ROLES, assert_dialled, assert_healthy
from tests.integration.python_clients.libraries import NEWEST_IN_THE_GATE, Library

from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns


@NEWEST_IN_THE_GATE
def test_every_role_through_nginx(library: Library, nginx_world: NetnsWorld, tmp_path: Path) -> None:
    outcome = library.exercise([Orders(tmp_path)(nginx_world.hq)], *ROLES, place=nginx_world.client)
    assert_healthy(outcome, nginx_world.hq)
    assert_dialled(outcome, nginx_world.hq)
