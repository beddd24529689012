"""A function with one of its module's names replaced."""

from brokernat.clients.rebinding import looks_up, rebound


def helper(text: str) -> str:
    return f"module's {text}"


def calls(text: str = "default", *, again: str = "again") -> str:
    return helper(text + again)


def test_the_copy_looks_up_ours_and_the_original_its_own() -> None:
    copy = rebound(calls, helper=str.upper)
    assert copy() == "DEFAULTAGAIN"
    assert copy("a", again="b") == "AB"
    assert calls("a", again="b") == "module's ab"


def test_what_can_be_rebound() -> None:
    assert looks_up(calls, "helper")
    assert not looks_up(calls, "upper")
    assert not looks_up(helper, "helper")
    assert not looks_up(None, "helper")
    assert not looks_up(len, "helper")
