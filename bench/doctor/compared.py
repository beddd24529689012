"""The worlds that tools are compared in, and what a tool must say in each to have named the cause."""

from dataclasses import dataclass

from tests.integration.doctor.cases import CASES, Case


@dataclass(frozen=True)
class Compared:
    """A world, what is wrong in it in words for a reader, and the pattern."""

    world: str
    wrong: str
    said: str

    @property
    def case(self) -> Case:
        """The world of the tests."""
        return next(case for case in CASES if case.name == self.world)


COMPARED = (
    Compared(
        "nat-4.4.0",
        "three brokers behind a gateway advertise what cannot be reached",
        r"cannot be reached|could not be established|[Rr]efused",
    ),
    Compared(
        "listener-of-one-broker",
        "the bootstrap server's listener is on one broker of three",
        r"(?i)listener",
    ),
    Compared(
        "bootstrap-list-mixes-listeners",
        "the bootstrap list mixes two listeners, so brokers come and go",
        r"(?i)different listeners",
    ),
    Compared(
        "bob",
        "the broker advertises a container's name",
        r"(?i)not resolve|resolution|unknown ?host",
    ),
    Compared(
        "tls-to-plaintext",
        "the client speaks TLS, the listener does not",
        r"(?i)plaintext|the port does not|not an? (ssl|tls)",
    ),
    Compared(
        "plaintext-to-tls",
        "the listener speaks TLS, the client does not",
        r"(?i)\b(ssl|tls)\b",
    ),
    Compared(
        "name-not-in-certificate",
        "the certificate is for another name",
        r"(?i)does not contain|mismatch|subject alternative",
    ),
    Compared(
        "client-certificate-demanded",
        "the listener demands a certificate of the client",
        r"(?i)requires a client certificate|certificate.?required|bad.?certificate",
    ),
    Compared(
        "wrong-mechanism",
        "the broker does not offer the client's mechanism",
        r"(?i)not offered|not enabled|unsupported sasl mechanism",
    ),
    Compared(
        "wrong-password",
        "the password is wrong",
        r"(?i)authentication failed|invalid (username|credentials)|rejected",
    ),
    Compared(
        "controller-listener",
        "the bootstrap server is a controller's listener",
        r"(?i)controller",
    ),
    Compared("http-server", "an HTTP server listens there", r"HTTP"),
)
