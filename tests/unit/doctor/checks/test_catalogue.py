"""Every check is in the catalogue with its paragraphs, each as one line."""

from brokernat.doctor.checks import CHECKS, Need, catalogue, page


def test_every_check_in_the_order_of_the_codes() -> None:
    assert list(catalogue()) == sorted(check.code for check in CHECKS)
    for entry in catalogue().values():
        for paragraph in (entry.what, entry.why, entry.remedy):
            assert paragraph.rstrip("`").endswith("."), entry.code
            assert "\n" not in paragraph


def test_one_entry() -> None:
    entry = catalogue()["BN302"]
    assert entry.title == "An advertised endpoint accepts no connection"
    assert entry.what.startswith("metadata names an endpoint that accepts no TCP connection")
    assert "Broker may not be available." in entry.why
    assert entry.remedy.startswith("add a rule to the address map")
    assert entry.needs == (Need.METADATA,)
    assert page("BN302") == "docs/reference/codes/BN302.md"
