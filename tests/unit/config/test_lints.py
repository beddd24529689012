from pathlib import Path

import pytest

from brokernat.config import load
from brokernat.config.lints import lint_config
from brokernat.config.load import read_document


def findings(folder: Path, text: str) -> list[tuple[str, str, int | None]]:
    file = folder / "brokernat.yaml"
    file.write_text(text)
    found = lint_config(load(file, environ={"PROTOCOL": "sasl_ssl"}), read_document(file))
    return [(str(each.severity), each.code, each.location.line) for each in found]


HEAD = "clusters:\n  hq:\n    bootstrap_servers: gw:1\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("    address_map:\n    - a=b\n    - a:1=c:1\n", [("error", "shadowed-rule", 6)]),
        ("    broker_nat: [gw:1]\n", []),
        ("    unmapped: pass\n", [("warning", "unmapped-without-map", 4)]),
        ("    client:\n      security.protcol: SSL\n", [("warning", "unknown-property", 5)]),
        ("    client:\n      interceptor.of.mine: x\n", []),
        ("    client:\n      ssl.key.password: canary\n", [("warning", "plain-secret", 5)]),
        ("    client:\n      ssl.truststore.certificates: PEM\n", []),
        ("    client:\n      sasl.mechanism: PLAIN\n", [("warning", "sasl-unused", 4)]),
        ("    client: {security.protocol: sasl_ssl, sasl.mechanism: GSSAPI}\n", []),
        ("    client: {security.protocol: '${env:PROTOCOL}', sasl.mechanism: GSSAPI}\n", []),
        ("    client: {security.protocol: SASL_SSL, sasl.mechanism: GSSAPI}\n", []),
    ],
)
def test_findings(tmp_path: Path, text: str, found: list[tuple[str, str, int | None]]) -> None:
    assert findings(tmp_path, HEAD + text) == found
