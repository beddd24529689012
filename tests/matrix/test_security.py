"""SASL and TLS see the broker's ORIGINAL name although another address is dialled."""

import pytest
from tests.matrix.conftest import HOPELESS, Clients
from tests.matrix.expectations import assert_dialled, assert_healthy, bootstrap_by_name
from tests.matrix.javas import java_binary
from tests.matrix.programs import Loader, Programs

from brokernat.testbed import LoopbackWorld

pytestmark = pytest.mark.integration

SUBJECT_REMOVED = "getSubject is not supported"
"""What SASL in a client before 3.9 ends in on Java 24 and later (JEP 486), with or without the agent."""


@pytest.mark.parametrize(
    ("version", "loader"),
    [
        # All others are in the full matrix.
        ("2.4.1", Loader.CLIENT_MAP),
        pytest.param("3.9.2", Loader.JVM_MAP, marks=pytest.mark.soak),
        ("4.4.0", Loader.CLIENT_MAP),
    ],
)
def test_tls_verifies_the_original_name(
    version: str, loader: Loader, strict: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    outcome = programs.exercise(version, client_of(strict.hq2, changes=bootstrap_by_name(strict.hq2)), loader=loader)
    assert_healthy(outcome, strict.hq2)
    assert_dialled(outcome, strict.hq2)


@pytest.mark.parametrize("loader", [pytest.param(Loader.JVM_MAP, marks=pytest.mark.soak), Loader.CLIENT_MAP])
def test_tls_by_the_gateways_address_is_refused(
    loader: Loader, strict: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    """The control: verification is on, so a bootstrap address that is not in the certificate must fail."""
    failed = programs.exercise("3.9.2", client_of(strict.hq2, ("admin",)), loader=loader).of("admin")
    assert not failed["ok"]
    assert "SslAuthenticationException" in failed["error"]
    assert "No subject alternative names" in failed["error"]


def test_a_name_that_does_not_resolve(strict: LoopbackWorld, programs: Programs, client_of: Clients) -> None:
    """Twice, as bootstrap server and as advertised; without the agent the name is the complaint, with it nothing is."""
    bootstrap = client_of(strict.hq2, ("admin",), changes=bootstrap_by_name(strict.hq2))
    outcome = programs.exercise("3.9.2", bootstrap, loader=Loader.NONE)
    assert "No resolvable bootstrap urls" in outcome.of("admin")["error"]

    # By the gateway, so that the names come from the brokers; whoever does that cannot verify its certificate.
    unverified = {"ssl.endpoint.identification.algorithm": ""}
    advertised = client_of(strict.hq2, ("admin",), changes=unverified | HOPELESS)
    outcome = programs.exercise("3.9.2", advertised, loader=Loader.NONE)
    assert not outcome.of("admin")["ok"]
    assert "java.net.UnknownHostException: kafka-" in outcome.log

    healed = programs.exercise("3.9.2", client_of(strict.hq2, changes=unverified), loader=Loader.CLIENT_MAP)
    assert_healthy(healed, strict.hq2)
    assert "UnknownHostException" not in healed.log


@pytest.mark.parametrize(
    ("version", "loader", "java"),
    [
        # The reporter without a login and the newest on Java 17 are in test_clients.py.
        pytest.param("4.4.0", Loader.REPORTER, None, marks=pytest.mark.soak),
        # The ends of Java as well; what lies between is in the full matrix.
        ("2.4.1", Loader.JVM_MAP, 11),
        pytest.param("3.9.2", Loader.CLIENT_MAP, 25, marks=pytest.mark.soak),
        ("4.4.0", Loader.JVM_MAP, 25),
    ],
)
def test_sasl_plain(
    version: str, loader: Loader, java: int | None, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    launcher = java_binary(java) if java else None
    outcome = programs.exercise(version, client_of(plain.hq2), loader=loader, java=launcher)
    assert_healthy(outcome, plain.hq2)
    assert_dialled(outcome, plain.hq2)


def test_sasl_with_a_wrong_password_is_refused(plain: LoopbackWorld, programs: Programs, client_of: Clients) -> None:
    """The control: the broker does ask for the password."""
    login = client_of(plain.hq2).properties["sasl.jaas.config"].replace("app-secret", "wrong")
    wrong = client_of(plain.hq2, ("admin",), changes={"sasl.jaas.config": login})
    failed = programs.exercise("3.9.2", wrong, loader=Loader.CLIENT_MAP).of("admin")
    assert "SaslAuthenticationException" in failed["error"]


@pytest.mark.parametrize(
    ("version", "loader"), [("3.4.1", Loader.CLIENT_MAP), pytest.param("3.4.1", Loader.NONE, marks=pytest.mark.soak)]
)
def test_sasl_on_java_25_needs_a_client_from_3_9_2_on(
    version: str, loader: Loader, plain: LoopbackWorld, programs: Programs, client_of: Clients
) -> None:
    client = client_of(plain.hq2, ("admin",), changes=HOPELESS)
    outcome = programs.exercise(version, client, loader=loader, java=java_binary(25))
    assert not outcome.of("admin")["ok"]
    assert SUBJECT_REMOVED in outcome.of("admin")["error"] + outcome.log
