import hashlib

import pytest

from brokernat.address import AddressMap, Unmapped, canonical_text, fingerprint
from brokernat.errors import ConfigError


def test_the_text_has_no_blanks_and_keeps_the_order() -> None:
    assert canonical_text(AddressMap.parse("B:1 = x:1\nA = [FD00::0]")) == "b:1=x:1,a=[fd00::]"


def test_the_fingerprint_is_that_of_the_text() -> None:
    address_map = AddressMap.parse("a:1 = b:1")
    assert fingerprint(address_map) == hashlib.sha256(b"a:1=b:1").hexdigest()
    assert fingerprint(address_map) == fingerprint(AddressMap(address_map.rules, Unmapped.PASS))


def test_templates_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"`\*\.hq:1=gw:\{1\+id\}`"):
        fingerprint(AddressMap.parse("a:1=b:1,*.hq:1=gw:{1+id}"))
