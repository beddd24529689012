import copy
import pickle
from pathlib import Path

import pytest

from brokernat.config.secrets import References, Secret
from brokernat.errors import ConfigError


def test_a_secret_does_not_print() -> None:
    secret = Secret("canary")
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>9}", f"{[secret]}", "%s" % secret]  # noqa: UP031
    assert not any("canary" in text for text in shown)
    assert secret.reveal() == "canary"


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(Secret("canary"))


def test_secrets_are_values() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert copy.deepcopy(Secret("a")) == copy.copy(Secret("a")) == Secret("a")


def test_references(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("from file\r\n\n")
    references = References(tmp_path, {"HQ": "from env", "A{B": "odd"})
    assert references.expand("${env:HQ}") == Secret("from env")
    assert references.expand("a ${env:HQ} b ${env:HQ}") == Secret("a from env b from env")
    assert references.expand("${file:password}") == Secret("from file\r\n")
    assert references.expand(f"${{file:{tmp_path}/password}}") == Secret("from file\r\n")
    assert references.expand("$${env:HQ} $ {x} $x") == "${env:HQ} $ {x} $x"
    assert references.expand("plain") == "plain"


def test_what_was_put_in_is_not_read_again() -> None:
    assert References(environ={"A": "${env:B}"}).expand("${env:A}") == Secret("${env:B}")


def test_windows_line_ends_at_the_end_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"canary\r\n")
    assert References(tmp_path).expand("${file:password}") == Secret("canary")


def test_every_missing_value_is_reported() -> None:
    with pytest.raises(ConfigError) as caught:
        References(environ={}).expand("${env:A}${file:/no/such}${x:y}${env:}${")
    assert [problem.kind for problem in caught.value.problems] == [
        "env-missing",
        "file-unreadable",
        "reference-unknown",
        "reference-unknown",
        "reference-unknown",
    ]


def test_unresolved_references_stay_hidden() -> None:
    value = References(environ={}, resolve=False).expand("${env:A}")
    assert value == Secret("${env:A}")
