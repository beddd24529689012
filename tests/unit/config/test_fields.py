from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from brokernat.config.fields import DataPath, Endpoints, FunctionName, Interval, Topic


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        (Topic, ["a", "A.b_c-1", "a" * 249], ["", ".", "..", "a b", "a" * 250, "\u00e9"]),
        (FunctionName, ["m:f", "a.b:f", "m\u00fc:f_1"], ["m", "m.f", ":f", "m:", "m:f:g", "1m:f", "m-x:f", "m:f.g"]),
        (
            Interval,
            ["1 second", "10 seconds", "500 milliseconds", "2 hours"],
            ["10", "10s", "0 seconds", "-1 minutes", "1 day"],
        ),
    ],
)
def test_shapes(field: Any, right: list[str], wrong: list[str]) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(field)
    assert [adapter.validate_python(text) for text in right] == right
    for text in wrong:
        with pytest.raises(ValidationError):
            adapter.validate_python(text)


@pytest.mark.parametrize("value", ["gw:1, [::1]:2,", ["gw:1", "[::1]:2"]])
def test_endpoints_are_a_text_or_a_list(value: object) -> None:
    assert list(map(str, TypeAdapter(Endpoints).validate_python(value))) == ["gw:1", "[::1]:2"]


def test_paths_are_left_alone_without_a_folder() -> None:
    assert TypeAdapter(DataPath).validate_python("a/b") == "a/b"
