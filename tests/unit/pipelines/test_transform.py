from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.pipelines.steps.transform import TransformError, load_transform


def test_a_function_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "beside_the_file.py").write_text("def tag(records):\n    return records\n")
    assert load_transform("beside_the_file:tag", tmp_path).name == "beside_the_file:tag"


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        ("not_there", None, "`import not_there` raised ModuleNotFoundError"),
        ("raises_at_once", "1 / 0", "`import raises_at_once` raised ZeroDivisionError"),
        ("without_function", "tags = 1", "has no function `tag`"),
        ("with_a_number", "tag = 1", "has no function `tag`"),
    ],
)
def test_what_cannot_be_imported_is_named(tmp_path: Path, module: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / f"{module}.py").write_text(text)
    with pytest.raises(TransformError, match=message):
        load_transform(f"{module}:tag", tmp_path)
