"""Admin client, producer, transactional producer and consumer group reach brokers at addresses that are dead here."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.python_clients.conftest import Orders
from tests.integration.python_clients.expectations import ROLES, assert_dialled, assert_healthy
from tests.integration.python_clients.libraries import KAFKA_PYTHON_2, NEWEST_IN_THE_GATE, Library

from brokernat.testbed import LoopbackWorld
from brokernat.testbed.running_cluster import config_text

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
    outcome = library.exercise([order(strict.hq2), order(strict.hq)], *ROLES)
    assert_healthy(outcome, strict.hq2, strict.hq)
    assert_dialled(outcome, strict.hq2)
    assert_dialled(outcome, strict.hq)


def test_the_file_of_a_testbed_with_tls_is_right_as_it_is(strict: LoopbackWorld, tmp_path: Path) -> None:
    file = tmp_path / "brokernat.yaml"
    file.write_text(config_text([strict.hq2]))
    words = ["doctor", "--config", str(file), "--cluster", strict.hq2.name, "--fail-on", "warning"]
    done = subprocess.run([sys.executable, "-m", "brokernat", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@NEWEST_IN_THE_GATE
def test_tls_by_the_gateways_address_is_refused(library: Library, strict: LoopbackWorld, order: Orders) -> None:
    """The control: verification is on, so a bootstrap address that is not in the certificate must fail."""
    conf = {"request_timeout_ms": 4000} | ({"bootstrap_timeout_ms": 4000} if library.name == "kafka-python 3" else {})
    gateway = [str(each) for each in strict.hq2.cluster.bootstrap_servers]
    outcome = library.exercise([order(strict.hq2, bootstrap=gateway, conf=conf)], "admin")
    assert isinstance(outcome.answer["admin"], str)
    assert "certificate is not valid for" in outcome.log
