import base64
import copy
import json
import pickle
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from brokernat.config.secrets import References, Secret, masked
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


@pytest.mark.parametrize(
    ("name", "hint"), [("PW", "set it: `export PW=…`"), ("HQ_PASSWRD", "did you mean `HQ_PASSWORD`?")]
)
def test_a_missing_variable_is_not_taken_for_another_short_one(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        References(environ={"PWD": "/", "HQ_PASSWORD": "canary"}).expand(f"${{env:{name}}}")
    assert caught.value.problems[0].hint == hint


def test_every_missing_value_is_reported() -> None:
    with pytest.raises(ConfigError) as caught:
        References(environ={}).expand("${env:A}${file:/no/such}${x:y}${env:}${")
    assert [problem.code for problem in caught.value.problems] == [
        "env-missing",
        "file-unreadable",
        "reference-unknown",
        "reference-unknown",
        "reference-unknown",
    ]


def test_unresolved_references_stay_hidden() -> None:
    value = References(environ={}, resolve=False).expand("${env:A}")
    assert value == Secret("${env:A}")


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


QUOTED: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "percent-encoded": lambda secret: quote(secret, safe=""),
    "a form's field": quote_plus,
    "every byte percent-encoded": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "json": lambda secret: json.dumps(secret)[1:-1],
    "json as it is": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "python": lambda secret: ascii(secret)[1:-1],
    "python's bytes": lambda secret: str(secret.encode())[2:-1],
    "html": escape,
    "html by numbers": lambda secret: "".join(f"&#{ord(one)};" for one in secret),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal of a dump": lambda secret: secret.encode().hex(" ").upper(),
    "base64": base64_of,
    "base64 without padding": lambda secret: base64_of(secret).rstrip("="),
    "base64 for addresses": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "base64, percent-encoded": lambda secret: quote(base64_of(secret), safe=""),
    "base64 in lines": lambda secret: "\n".join(re.findall(".{1,5}", base64_of(secret))),
    "base64 of PLAIN": lambda secret: base64_of(f"\0user\0{secret}"),
    "base64 of a user before it": lambda secret: base64_of(f"u:{secret}"),
    "base64 of a line around it": lambda secret: base64_of(f"n,,\x01auth=Bearer {secret}\x01\x01"),
    "base64 after base64": lambda secret: f"{base64_of('a')} {base64_of(secret)}",
}


@pytest.mark.parametrize("how", QUOTED)
@pytest.mark.parametrize("secret", ["canary", "p@ss w&rd\"é/\\x<'", "eyJhbGci.eyJzdWIi.c2ln-_", "\N{GRINNING FACE}12"])
def test_a_secret_that_somebody_quotes_is_masked(secret: str, how: str) -> None:
    quoted = QUOTED[how](secret)
    text = masked(f"login failed: {quoted} is wrong", secret)
    assert text.startswith("login failed: ")
    assert text.endswith("*** is wrong")
    assert quoted not in text


def test_a_user_name_that_begins_the_password_does_not_leave_its_end() -> None:
    assert masked("kafka with kafka-secret-1 failed", "kafka", "kafka-secret-1") == "*** with *** failed"


def test_other_words_are_left_as_they_are() -> None:
    text = "Authentication failed during authentication due to invalid credentials with SASL mechanism PLAIN"
    assert masked(text, "canary", "", "correct horse battery staple") == text


@pytest.mark.parametrize("unit", ["A", "\\", "\\\\u", "%2B", "6", "&#", "\\\\u000"])
def test_a_long_text_without_the_secret_is_searched_in_linear_time(unit: str) -> None:
    # A search through the rest of the text from each of its characters would take hours.
    text = unit * 1_000_000
    assert masked(text, "hunter2-secret", "\\\\x") == text


def test_base64_that_is_wrapped_inside_the_second_secret_is_masked() -> None:
    twice = base64_of("hunter2hunter2hunter2")
    assert masked(f"{twice[:-4]}\n{twice[-4:]} end", "hunter2") == "*** end"


def test_letters_of_base64_are_masked_to_both_ends_and_not_beyond() -> None:
    text = f"a%2Bb%3Dc{base64_of('hunter2')}%3D-_x, rest% {base64_of('hunter2')}"
    assert masked(text, "hunter2") == "***, rest% ***"
