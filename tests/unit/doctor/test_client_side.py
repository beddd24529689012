"""What the probes take from a client's section."""

import shlex
import ssl
import sys
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster, Secret
from brokernat.doctor.credentials import ClientSide, client_side, token
from brokernat.doctor.evidence import TlsHandshake
from brokernat.errors import ConfigError

LOGIN = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"

JUNK = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"


def cluster(**client: str | Secret) -> Cluster:
    return Cluster("hq", (Endpoint("gw", 9093),), None, {name.replace("_", "."): each for name, each in client.items()})


def test_a_token_is_wanted_for_its_mechanism_only() -> None:
    other = cluster(security_protocol="SASL_PLAINTEXT", sasl_mechanism="GSSAPI")
    assert client_side(other, "/nowhere/to/run").token is None
    bearer = cluster(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config=Secret(f'{LOGIN} clientSecret="canary" extension_logicalCluster="lkc-1";'),
    )
    client = client_side(bearer, "echo abc")
    assert (client.token, client.extensions) == ("abc", (("logicalCluster", "lkc-1"),))
    assert "abc" not in repr(client)


OK, UNTRUSTED = TlsHandshake("ok"), TlsHandshake("untrusted")


@pytest.mark.parametrize(
    ("mechanism", "token", "tls", "verify_name", "sent"),
    [
        ("PLAIN", None, None, True, False),
        ("PLAIN", None, OK, True, True),
        ("PLAIN", None, UNTRUSTED, True, False),
        # A certificate proves nobody where its names are not looked at.
        ("PLAIN", None, OK, False, False),
        ("OAUTHBEARER", "abc", None, True, False),
        ("OAUTHBEARER", "abc", OK, True, True),
        # There is nothing that could be read.
        ("OAUTHBEARER", None, None, True, True),
        ("SCRAM-SHA-512", None, None, True, True),
        ("SCRAM-SHA-512", None, UNTRUSTED, False, True),
    ],
)
def test_a_readable_login_goes_to_verified_peers_and_where_it_was_agreed_to(
    mechanism: str, token: str | None, tls: TlsHandshake | None, verify_name: bool, sent: bool
) -> None:
    protocol = "SASL_PLAINTEXT" if tls is None else "SASL_SSL"
    client = ClientSide(protocol, mechanism, "me", "canary", verify_name=verify_name, token=token)
    assert client.may_log_in(Endpoint("gw", 9093), tls) is sent
    client.login_to.add(Endpoint("gw", 9093))
    assert client.may_log_in(Endpoint("gw", 9093), tls)
    assert client.may_log_in(Endpoint("gw", 9094), tls) is sent


def test_a_login_line_that_is_none_is_not_quoted() -> None:
    with pytest.raises(ConfigError, match=r"`sasl\.jaas\.config` cannot be read") as failed:
        client_side(cluster(sasl_jaas_config=Secret("canary")))
    assert "canary" not in failed.value.report()


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        ({}, "no login for `sasl.mechanism: PLAIN`: `sasl.jaas.config` is missing"),
        ({"sasl_username": "me"}, "`sasl.jaas.config` is missing"),
        ({"sasl_jaas_config": Secret(f'{PLAIN} username="me";')}, "`sasl.jaas.config` has no `password`"),
        ({"sasl_jaas_config": Secret(f"{PLAIN};")}, "has no `username` and no `password`"),
    ],
)
def test_a_client_without_a_login_is_reported_before_a_connection(client: dict[str, str | Secret], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        client_side(cluster(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", **client))


@pytest.mark.parametrize(
    "client",
    [
        {"sasl_jaas_config": Secret('com.example.VaultLoginModule required path="x";')},
        {"sasl_client_callback_handler_class": "com.example.Handler"},
    ],
)
def test_a_login_that_a_java_class_gives_is_not_missing(client: dict[str, str | Secret]) -> None:
    side = client_side(cluster(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", **client))
    assert (side.username, side.password) == ("", "")


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        ({"ssl_truststore_certificates": "no certificate"}, "it holds no certificate that Java trusts"),
        ({"ssl_truststore_certificates": JUNK}, "a certificate of the trust store cannot be read"),
        ({"ssl_keystore_key": "no key", "ssl_keystore_certificate_chain": "none"}, "the client's key or its"),
        ({"ssl_truststore_location": "/nowhere.pem", "ssl_truststore_type": "PEM"}, "trust store `/nowhere.pem`"),
    ],
)
def test_stores_that_cannot_be_read(client: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        client_side(cluster(security_protocol="SSL", **client))


def test_a_client_without_tls_reads_no_store() -> None:
    client = client_side(cluster(ssl_truststore_location="/nowhere", client_dns_lookup="use_all_dns_ips"))
    assert client.tls is None
    assert client.dns_lookup == "use_all_dns_ips"


@pytest.mark.parametrize(
    ("named", "oldest", "newest"),
    [
        ("TLSv1.2", ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2),
        ("TLSv1.3", ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
        ("TLSv1.3, TLSv1.2", ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
    ],
)
def test_no_other_version_of_tls_is_spoken_than_the_client_s(
    named: str, oldest: ssl.TLSVersion, newest: ssl.TLSVersion
) -> None:
    tls = client_side(cluster(security_protocol="SSL", ssl_enabled_protocols=named)).tls
    assert tls is not None
    for context in (tls.context, tls.undated):
        assert (context.minimum_version, context.maximum_version) == (oldest, newest)


def test_a_version_of_tls_that_nobody_speaks() -> None:
    with pytest.raises(ConfigError, match=r"`ssl\.enabled\.protocols: TLSv1\.1` has no TLS version") as failed:
        client_side(cluster(security_protocol="SSL", ssl_enabled_protocols="TLSv1.1"))
    assert "write `TLSv1.2,TLSv1.3`" in failed.value.report()


URL = "sasl.oauthbearer.token.endpoint.url"


def printing(text: str, status: int = 0) -> str:
    return shlex.join([sys.executable, "-c", f"import sys; print({text!r}); sys.exit({status})"])


def test_a_command_wins_over_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a token"
    file.write_text("of-the-file\n")
    assert token({URL: file.as_uri()}, None) == "of-the-file"
    assert token({URL: file.as_uri()}, printing("aaa.bbb-_~+/.ccc==")) == "aaa.bbb-_~+/.ccc=="


@pytest.mark.parametrize("properties", [{}, {URL: "https://login.example/token"}])
def test_an_endpoint_is_not_asked(properties: dict[str, str]) -> None:
    assert token(properties, None) is None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (printing("canary", 3), "status 3"),
        (printing("canary canary"), "gives no token"),
        (printing("canary\x01auth"), "gives no token"),
        (printing(""), "gives no token"),
        ("/nowhere/canary", "cannot be run: FileNotFoundError"),
        ("'", "cannot be run: ValueError"),
        ("", "cannot be run"),
    ],
)
def test_what_is_no_token(command: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as failed:
        token({}, command)
    assert "canary" not in failed.value.report()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: FileNotFoundError"):
        token({URL: (tmp_path / "none").as_uri()}, None)
