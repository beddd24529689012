"""The JAAS line, read as Java reads it, and stores taken apart."""

import pytest

from brokernat.clients.java_security import Part, login_parts, store_parts
from brokernat.config.client_properties import LOGIN_MODULES
from brokernat.config.cluster import jaas_line
from brokernat.config.java_properties import parse_jaas
from brokernat.errors import Finding

PLAIN = LOGIN_MODULES["PLAIN"]


@pytest.mark.parametrize("password", ["secret", 'a"b', "a\\b", "a\nb\r", "a;b=c", "ü €", "", "//x", "\\n"])
def test_what_we_write_is_read_back(password: str) -> None:
    login = parse_jaas(jaas_line(PLAIN, "user", password))
    assert login.module == PLAIN
    assert login.options == {"username": "user", "password": password}


@pytest.mark.parametrize(
    "text",
    [
        f"{PLAIN} required\n  username='a'\n  password=\"b\" ;",
        f"// a comment\n{PLAIN} required /* another */ username=a password=b;",
        f'{PLAIN} required "username"=a password="\\142";',
    ],
)
def test_what_people_copy(text: str) -> None:
    assert parse_jaas(text).options == {"username": "a", "password": "b"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        PLAIN,
        f'{PLAIN} required username="a" password="b"',
        f'{PLAIN} required username="a" password="b;',
        f"{PLAIN} required username=;",
        f"{PLAIN} required; {PLAIN} required;",
        f"{PLAIN} required username=a,password=b;",
        f"{PLAIN} required username=a =",
    ],
)
def test_what_is_no_line_is_refused_without_a_word_of_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"of a JAAS line|not a JAAS line") as caught:
        parse_jaas(text)
    assert "username" not in str(caught.value)


def test_the_line_wins_over_the_names() -> None:
    properties = {
        name: Part(name, text, written=name)
        for name, text in {
            "sasl.jaas.config": jaas_line(PLAIN, "line", "one"),
            "sasl.username": "name",
            "sasl.password": "two",
        }.items()
    }
    assert [(part.name, part.text, part.secret) for part in login_parts(properties) if isinstance(part, Part)] == [
        ("sasl.username", "line", True),
        ("sasl.password", "one", True),
    ]
    assert properties == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hidden", "`sasl.jaas.config` cannot be read"),
        (f"{PLAIN} required username=hidden;", "`sasl.jaas.config` has no `password`"),
        ("a.Krb5LoginModule required keyTab=hidden;", "`sasl.jaas.config` names a.Krb5LoginModule"),
    ],
)
def test_what_it_cannot_serve_is_said_without_the_text(line: str, message: str) -> None:
    properties = {"sasl.jaas.config": Part("sasl.jaas.config", line, written="sasl.jaas.config", secret=True)}
    problems = [found for found in login_parts(properties) if isinstance(found, Finding)]
    assert [problem.message.startswith(message) for problem in problems] == [True]
    assert "hidden" not in problems[0].report()


def test_options_are_not_shown() -> None:
    assert "secret" not in repr(parse_jaas(jaas_line(PLAIN, "user", "secret")))


def parts(client: dict[str, str], *, pkcs12: bool = False) -> tuple[dict[str, str], list[str | None]]:
    properties = {name: Part(name, text, written=name) for name, text in client.items()}
    found = list(store_parts(properties, pkcs12=pkcs12))
    assert not properties
    made = {part.name: part.text for part in found if isinstance(part, Part)}
    return made, [problem.hint for problem in found if isinstance(problem, Finding)]


def test_pem_files_and_texts() -> None:
    assert parts({"ssl.truststore.type": "pem", "ssl.truststore.location": "t.pem"}) == (
        {"ssl.ca.location": "t.pem"},
        [],
    )
    assert parts({"ssl.keystore.type": "PEM", "ssl.keystore.location": "k.pem"}) == (
        {"ssl.certificate.location": "k.pem", "ssl.key.location": "k.pem"},
        [],
    )
    texts = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "ca",
        "ssl.keystore.certificate.chain": "chain",
        "ssl.keystore.key": "key",
    }
    assert parts(texts) == ({"ssl.ca.pem": "ca", "ssl.certificate.pem": "chain", "ssl.key.pem": "key"}, [])


def test_a_pkcs12_key_store_goes_to_a_library_that_reads_it() -> None:
    client = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "k.p12", "ssl.keystore.password": "s"}
    assert parts(client, pkcs12=True) == ({"ssl.keystore.location": "k.p12", "ssl.keystore.password": "s"}, [])
    assert parts(client)[0] == {}


@pytest.mark.parametrize(
    ("client", "command"),
    [
        (
            {"ssl.truststore.location": "/a b/t.jks"},
            "keytool -list -rfc -keystore '/a b/t.jks' -storepass PASSWORD > trust.pem",
        ),
        ({"ssl.keystore.location": "k.jks"}, "-srckeystore k.jks -destkeystore key.p12 -deststoretype PKCS12"),
        ({"ssl.keystore.location": "k.jks"}, "openssl pkcs12 -in key.p12 -out key.pem"),
        ({"ssl.keystore.location": "k.p12", "ssl.keystore.type": "PKCS12"}, "openssl pkcs12 -in k.p12 -out key.pem"),
    ],
)
def test_other_stores_are_refused_with_the_command(client: dict[str, str], command: str) -> None:
    made, hints = parts(client)
    assert made == {}
    assert [command in (hint or "") for hint in hints] == [True]
