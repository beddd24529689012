import pytest

from brokernat.config.document import Path
from brokernat.config.model import ConfigFile
from brokernat.config.problems import did_you_mean, keys_of


@pytest.mark.parametrize(
    ("word", "hint"),
    [("adress_map", "did you mean `address_map`?"), ("UNMAPPED", "did you mean `unmapped`?"), ("colour", None)],
)
def test_did_you_mean(word: str, hint: str | None) -> None:
    assert did_you_mean(word, ["address_map", "unmapped"]) == hint


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ((), "clusters"),
        (("clusters", "any"), "bootstrap_servers"),
        (("pipelines", "any", "decode"), "format"),
        (("pipelines", "any", "enrich", 3), "reference"),
        (("pipelines", "any", "references", "any"), "format"),
        (("nowhere", "at", "all"), None),
    ],
)
def test_keys_of(path: Path, first: str | None) -> None:
    assert next(iter(keys_of(ConfigFile, path)), None) == first
