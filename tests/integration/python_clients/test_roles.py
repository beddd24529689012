"""Admin client, producer, transactional producer and consumer group reach brokers at addresses that are dead here."""

import pytest
from tests.integration.python_clients.conftest import Orders
from tests.integration.python_clients.expectations import ROLES, assert_dialled, assert_healthy, bootstrap_by_name
from tests.integration.python_clients.libraries import KAFKA_PYTHON_2, NEWEST_IN_THE_GATE, Library

from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration


def test_two_clusters_with_the_same_addresses_in_one_process(
    library: Library, plain: LoopbackWorld, order: Orders
) -> None:
    """One without login and one with; records say for which cluster they are, so a wrong turn would show."""
    assert plain.hq.advertised[1] == plain.hq2.advertised[1]
    outcome = library.exercise([order(plain.hq), order(plain.hq2)], *ROLES)
    assert_healthy(outcome, plain.hq, plain.hq2)
    assert_dialled(outcome, plain.hq)
    assert_dialled(outcome, plain.hq2)
    assert "app-secret" not in outcome.log
    assert outcome.answer["version"].startswith(library.driver)
    assert (library is KAFKA_PYTHON_2) == outcome.answer["version"].startswith("kafka-python 2.")


def test_tls_verifies_the_original_name(library: Library, strict: LoopbackWorld, order: Orders) -> None:
    """Names that do not resolve, in the bootstrap servers and in what brokers advertise; SCRAM, and IPv6 beside it."""
    named = order(strict.hq2, bootstrap=bootstrap_by_name(strict.hq2))
    outcome = library.exercise([named, order(strict.hq)], *ROLES)
    assert_healthy(outcome, strict.hq2, strict.hq)
    assert_dialled(outcome, strict.hq2)
    assert_dialled(outcome, strict.hq)


@NEWEST_IN_THE_GATE
def test_tls_by_the_gateways_address_is_refused(library: Library, strict: LoopbackWorld, order: Orders) -> None:
    """The control: verification is on, so a bootstrap address that is not in the certificate must fail."""
    conf = {"request_timeout_ms": 4000} | ({"bootstrap_timeout_ms": 4000} if library.name == "kafka-python 3" else {})
    outcome = library.exercise([order(strict.hq2, conf=conf)], "admin")
    assert isinstance(outcome.answer["admin"], str)
    assert "certificate is not valid for" in outcome.log
