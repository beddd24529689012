"""Java's stores as PEM, or how to make PEM of them."""

import pytest

from brokernat.clients.parts import Part
from brokernat.clients.stores import store_parts
from brokernat.errors import Problem


def parts(client: dict[str, str], *, pkcs12: bool = False) -> tuple[dict[str, str], list[str | None]]:
    properties = {name: Part(name, text, written=name) for name, text in client.items()}
    found = list(store_parts(properties, pkcs12=pkcs12))
    assert not properties
    made = {part.name: part.text for part in found if isinstance(part, Part)}
    return made, [problem.hint for problem in found if isinstance(problem, Problem)]


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
        ({"ssl.truststore.location": "/a b/t.jks"}, "keytool -list -rfc -keystore '/a b/t.jks' > trust.pem"),
        ({"ssl.keystore.location": "k.jks"}, "-srckeystore k.jks -destkeystore key.p12 -deststoretype PKCS12"),
        ({"ssl.keystore.location": "k.jks"}, "openssl pkcs12 -in key.p12 -out key.pem"),
        ({"ssl.keystore.location": "k.p12", "ssl.keystore.type": "PKCS12"}, "openssl pkcs12 -in k.p12 -out key.pem"),
    ],
)
def test_other_stores_are_refused_with_the_command(client: dict[str, str], command: str) -> None:
    made, hints = parts(client)
    assert made == {}
    assert [command in (hint or "") for hint in hints] == [True]
