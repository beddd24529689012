"""Tables at work: every property ends as the library's argument or as a problem, and no problem shows a secret."""

from dataclasses import replace

import pytest

from brokernat.clients.translation import (
    As,
    Table,
    Without,
    boolean,
    choice,
    integer,
    number,
    same,
    seconds,
    translated,
    underscored,
    words,
)
from brokernat.config import Cluster, Secret
from brokernat.config.model import TunnelSection
from brokernat.errors import ConfigError

TABLE = Table(
    "library 1",
    {
        **underscored("security.protocol"),
        **underscored("linger.ms", convert=integer),
        **same("client.id"),
        "sasl.username": As("user"),
        "sasl.password": As("secret"),
        "sasl.oauthbearer.scope": As("scope", integer),
        "key.serializer": Without("it names a Java class", "key_serializer"),
        "security.providers": Without("they are Java's"),
    },
)


def cluster(**client: str | Secret) -> Cluster:
    return Cluster("hq", (), None, {name.replace("_", "."): value for name, value in client.items()})


def kinds(wrong: Cluster) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        translated(wrong, TABLE)
    return [problem.code for problem in caught.value.problems]


def test_names_and_values_are_the_library_s() -> None:
    found = translated(
        cluster(security_protocol="SASL_SSL", linger_ms="5", client_id="app", sasl_password=Secret("s")), TABLE
    )
    assert found == {"security_protocol": "SASL_SSL", "linger_ms": 5, "client.id": "app", "secret": "s"}


def test_all_problems_come_at_once_with_their_cluster() -> None:
    wrong = cluster(security_protcol="x", linger_ms="soon", acks="1", security_providers="x", key_serializer="org.X")
    with pytest.raises(ConfigError) as caught:
        translated(wrong, TABLE)
    assert [(problem.code, str(problem), problem.hint) for problem in caught.value.problems] == [
        (
            "unknown-property",
            "Kafka has no property `security.protcol`: clusters.hq.client",
            "did you mean `security.protocol`?",
        ),
        ("bad-value", "`linger.ms` must be a whole number, not `soon`: clusters.hq.client", None),
        (
            "no-counterpart",
            "library 1 has no `acks`: clusters.hq.client",
            "remove it, or write another cluster section for this library",
        ),
        ("no-counterpart", "library 1 has no `security.providers`: they are Java's: clusters.hq.client", None),
        (
            "no-counterpart",
            "library 1 has no `key.serializer`: it names a Java class: clusters.hq.client",
            "give `key_serializer` in the program",
        ),
    ]


def test_what_the_program_gives_itself_is_no_problem() -> None:
    assert translated(cluster(key_serializer="org.X"), TABLE, given={"key_serializer": str}) == {}


def test_a_secret_is_in_no_message() -> None:
    wrong = cluster(
        linger_ms=Secret("hidden"), sasl_oauthbearer_scope=Secret("hidden"), ssl_truststore_location=Secret("hidden")
    )
    with pytest.raises(ConfigError) as caught:
        translated(wrong, TABLE)
    assert len(caught.value.problems) == 3
    assert "hidden" not in caught.value.report()
    assert "hidden" not in repr(caught.value.problems)


def test_a_secret_that_a_library_has_no_place_for_is_not_left_out() -> None:
    """Without it the connection may be another one than that of the file."""
    table = Table("library 1", {"sasl.username": As("user")})
    with pytest.raises(ConfigError, match=r"library 1 has no `sasl\.password`") as caught:
        translated(cluster(sasl_username="app", sasl_password="hidden"), table)
    assert "hidden" not in caught.value.report()


def test_a_property_that_is_secret_by_its_name_is_in_no_message() -> None:
    """As in a cluster that a program makes, or a file that holds the password itself."""
    table = Table("library 1", {"sasl.username": As("user"), "sasl.password": As("secret", integer)})
    with pytest.raises(ConfigError, match=r"`sasl\.password` must be a whole number") as caught:
        translated(cluster(sasl_username="app", sasl_password="hidden"), table)
    assert "hidden" not in caught.value.report()


def test_logins_and_stores_are_taken_apart_first() -> None:
    assert kinds(cluster(sasl_jaas_config="nothing", ssl_keystore_location="k.jks")) == ["login-module", "store-format"]


@pytest.mark.parametrize(
    ("convert", "text", "value"),
    [
        (integer, " -1 ", -1),
        (number, "0.8", 0.8),
        (seconds, "1500", 1.5),
        (boolean, "True", True),
        (boolean, "false", False),
        (words, "a, b,,c", ["a", "b", "c"]),
        (choice({"all": -1, "0": 0}), "all", -1),
    ],
)
def test_converters(convert: object, text: str, value: object) -> None:
    assert callable(convert)
    assert convert(text) == value


@pytest.mark.parametrize("convert", [integer, number, seconds, boolean, choice({"a": 1})])
def test_a_converter_says_what_it_wants_and_not_what_it_got(convert: object) -> None:
    assert callable(convert)
    with pytest.raises(ValueError, match=r"^(a whole number|a number|`)") as caught:
        convert("hidden")
    assert "hidden" not in str(caught.value)


def test_a_tunnel_that_is_not_open_is_no_way_to_the_brokers() -> None:
    behind = replace(cluster(client_id="a"), tunnel=TunnelSection(ssh="bastion"))
    for ask in (behind.kafka_properties, lambda: translated(behind, TABLE)):
        with pytest.raises(ConfigError, match=r"cluster `hq` needs a tunnel") as caught:
            ask()
        assert "brokernat tunnel --cluster hq -- COMMAND" in str(caught.value)
    assert translated(replace(behind, tunnel_is_open=True), TABLE) == {"client.id": "a"}
