"""Where a token comes from, and that no message quotes one."""

import shlex
import sys
from pathlib import Path

import pytest

from brokernat.doctor.client.tokens import token
from brokernat.errors import ConfigError

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
