import re

import pytest

from brokernat.config.sizes import size_in_bytes


@pytest.mark.parametrize(
    ("text", "size"), [("1048576", 1 << 20), ("512M", 1 << 29), ("2 GiB", 1 << 31), ("1.5gb", 3 << 29), ("1k", 1024)]
)
def test_text_to_bytes(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["?", "much", "1X", "M", "1e999", "nan"])
def test_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        size_in_bytes(text)
