"""The line of a failure; those of a real Spark are in tests/integration."""

from types import SimpleNamespace

import pytest

from brokernat.pipelines.root_cause import root_cause


class ConvertedError(Exception):
    """Like a PySpark exception, with the Java exception that it was made from."""

    def __init__(self, text: str) -> None:
        self._origin = SimpleNamespace(getCause=lambda: None, toString=lambda: text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "org.example.ParseException: \n[SYNTAX] near 'STRNG'. SQLSTATE: 42601\n\n== SQL ==",
            "ParseException: [SYNTAX]",
        ),
        ("org.example.ParseException: no columns\nat line 1", "ParseException: no columns"),
        ("org.example.OddError:", "OddError:"),
        ("", ""),
    ],
)
def test_the_message_is_there_also_after_an_empty_line(text: str, line: str) -> None:
    found = root_cause(ConvertedError(text))
    assert found.startswith(line)
    assert "== SQL" not in found
    assert "at line" not in found
