from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["doctor", "discover"])
def test_who_has_no_file_is_told_that_none_is_needed(run: Callable[..., str], folder: Path, command: str) -> None:
    (folder / "brokernat.yaml").unlink()
    assert run(command) == (
        "exit 2\n--- stdout\n--- stderr\nerror: there is no file `brokernat.yaml` (the default)\n\n"
        f"hint: `brokernat {command} HOST:PORT` needs no file; else write one with `brokernat init`, "
        "or name another with `--config FILE` or BROKERNAT_CONFIG\n"
    )


@pytest.mark.parametrize("command", ["doctor", "discover"])
def test_kafkas_own_file_is_read_and_its_problems_are_reported_before_anything_is_dialled(
    run: Callable[..., str], folder: Path, command: str
) -> None:
    (folder / "client.properties").write_text(
        "security.protocol=SASL_SLL\nsasl.mechanism=PLAIN\nsasl.username=me\nssl.key.password=canary\n"
    )
    assert run(command, "-b", "127.0.0.1:1", "--command-config", "client.properties") == (
        "exit 2\n--- stdout\n--- stderr\n"
        "error: `security.protocol` is `SASL_SLL`, which is not a Kafka protocol: client.properties line 1\n\n"
        "hint: did you mean `SASL_SSL`? allowed: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL\n\n"
        "error: `sasl.username` is given without `sasl.password`: client.properties line 3\n\n"
        "hint: add `sasl.password`\n\n2 problems\n"
    )


def test_kafkas_own_file_gives_servers_and_login(run: Callable[..., str], folder: Path) -> None:
    (folder / "client.properties").write_text("bootstrap.servers=127.0.0.1:1\nsecurity.protocol=ssl\nsasl.mechansm=X\n")
    said = run("doctor", "--command-config", "client.properties", "--format", "json")
    assert said.startswith("exit 3\n")
    assert "127.0.0.1:1" in said
    assert "Kafka has no property `sasl.mechansm`, it is ignored: client.properties line 3" in said
    (folder / "client.properties").write_text("security.protocol=ssl\n")
    assert "`client.properties` has no `bootstrap.servers`" in run("doctor", "--command-config", "client.properties")
    said = run("doctor", "--cluster", "hq", "--command-config", "client.properties")
    assert "`--cluster` cannot be combined with" in said
