"""placeholder"""

_SECRET_NAMES = frozenset(
    {
        "sasl.jaas.config",
        "sasl.password",
        "ssl.key.password",
        "ssl.keystore.password",
        "ssl.truststore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.certificates",
    }
)


def is_secret(name: str) -> bool:
    return name in _SECRET_NAMES
