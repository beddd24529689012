"""Each fault of a file gives its own finding, and files that are right give none."""

from typing import Literal

import pytest
from tests.support.endpoint_probes import probed, replace
from tests.unit.doctor.broker_files.conftest import BOB_AND_FRED, KRAFT, SITUATION_1, file, files
from tests.unit.doctor.conftest import GATEWAY, reached

from brokernat.doctor.broker_files.compose import parse_compose
from brokernat.doctor.checks import CHECKS, Need
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, Evidence
from brokernat.doctor.finding import Severity


def kraft(**changes: str) -> str:
    """The healthy KRaft file with other lines: `node_id="2"` for `node.id=2`; an empty value takes a line out."""
    lines = dict(line.split("=", 1) for line in KRAFT.split())
    lines |= {name.replace("_", "."): value for name, value in changes.items()}
    return "\n".join(f"{name}={value}" for name, value in lines.items() if value)


def brokers(*numbers: int, **changes: str) -> list[str]:
    """Healthy files of several nodes; `{n}` in a change is the node's number."""
    return [
        kraft(
            node_id=str(n),
            advertised_listeners=f"PLAINTEXT://kafka-{n}.example:9092",
            **{name: value.format(n=n) for name, value in changes.items()},
        )
        for n in numbers
    ]


def composed(text: str, *published: tuple[int, int]) -> Evidence:
    return Evidence.without_network("files", files=(file(text, "c.yml kafka", published),))


THREE = {
    "listeners": "A://10.0.0.4:1,B://10.0.0.5:2,C://:3,CONTROLLER://:9093",
    "listener_security_protocol_map": "A:PLAINTEXT,B:PLAINTEXT,C:SSL,CONTROLLER:PLAINTEXT",
    "inter_broker_listener_name": "A",
}
BOTH = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,B:PLAINTEXT"


@pytest.mark.parametrize(
    ("evidence", "cause", "codes"),
    [
        (files(KRAFT), None, set()),
        (files(*brokers(1, 2, 3)), None, set()),
        (files(kraft(process_roles="broker", listeners="PLAINTEXT://:9092")), None, set()),
        (
            files(
                "node.id=9\nprocess.roles=controller\ncontroller.listener.names=C\nlisteners=C://:1\n"
                "controller.quorum.voters=9@k.example:1"
            ),
            None,
            set(),
        ),
        (files(BOB_AND_FRED), None, {"BN824", "BN825"}),
        (files(SITUATION_1), "BN813", {"BN813", "BN816"}),
        (files(kraft(listeners="PLAINTEXT:9092,CONTROLLER://:9093")), "BN811", {"BN811", "BN815"}),
        (files(kraft(listeners=" ")), "BN811", {"BN811", "BN815", "BN823"}),
        (files(kraft(listeners="PLAINTEXT://:9092,,CONTROLLER://:9093")), "BN811", {"BN811"}),
        (files(kraft(advertised_listeners="PLAINTEXT://kafka-1.example:9092,")), "BN811", {"BN811"}),
        (files("listeners=PLAINTEXT://a.example:1,"), None, {"BN811"}),
        (files(kraft(process_roles="broker,,controller")), "BN811", {"BN811"}),
        (files(kraft(controller_listener_names="CONTROLLER,")), "BN811", {"BN811"}),
        (files(kraft(listener_security_protocol_map="PLAINTEXT:PLAINTEXT,,CONTROLLER:PLAINTEXT")), "BN811", {"BN811"}),
        (files(kraft(listener_security_protocol_map="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,")), None, set()),
        (files(kraft(process_roles="broker,controller,")), "BN811", {"BN811"}),
        (
            files(kraft(process_roles="broker", listeners="SSL://:1", advertised_listeners="SSL://a.example:1")),
            "BN814",
            {"BN814", "BN819"},
        ),
        (files(KRAFT + "node.id=1"), None, {"BN812"}),
        (files(kraft(listeners="PLAINTEXT://:9092,plaintext://:9094,CONTROLLER://:9093")), "BN812", {"BN812"}),
        (
            files(kraft(listeners="PLAINTEXT://127.0.0.1:9092,B://[::1]:9092,CONTROLLER://:9093")),
            "BN814",
            {"BN813", "BN814", "BN816", "BN832"},
        ),
        (files(kraft(listener_security_protocol_map="CONTROLLER:PLAINTEXT")), "BN814", {"BN814"}),
        (files(kraft(advertised_listeners="PLAINTEXT://a.example:1,SSL://a.example:2")), "BN815", {"BN815"}),
        (
            files(kraft(listener_security_protocol_map=BOTH, listeners="PLAINTEXT://:9092,CONTROLLER://:9093,B://:9")),
            None,
            {"BN816"},
        ),
        (files(kraft(advertised_listeners="PLAINTEXT://0.0.0.0:9092")), "BN817", {"BN817"}),
        (files("node.id=1\nlisteners=PLAINTEXT://0.0.0.0:9092"), "BN817", {"BN817"}),
        (files("node.id=1\nlisteners=PLAINTEXT://[::]:9092"), "BN817", {"BN817"}),
        (files("node.id=1"), None, {"BN818"}),
        (files(kraft(inter_broker_listener_name="B")), "BN819", {"BN819"}),
        (files("listeners=SSL://a.example:1"), "BN819", {"BN819"}),
        (
            files(kraft(inter_broker_listener_name="PLAINTEXT", security_inter_broker_protocol="PLAINTEXT")),
            "BN819",
            {"BN819"},
        ),
        (files(*brokers(1, 1)), "BN820", {"BN820", "BN821"}),
        (files(KRAFT, kraft(node_id="2")), "BN821", {"BN821"}),
        (
            files(
                *brokers(1, 2)[:1],
                kraft(
                    node_id="2",
                    listeners="SSL://:1,CONTROLLER://:2",
                    advertised_listeners="SSL://b.example:1",
                    security_inter_broker_protocol="SSL",
                    listener_security_protocol_map="CONTROLLER:SSL,SSL:SSL",
                ),
            ),
            "BN822",
            {"BN822"},
        ),
        (files(kraft(controller_listener_names="")), "BN823", {"BN823", "BN814", "BN816"}),
        (files(kraft(controller_listener_names="controller")), "BN823", {"BN823", "BN814", "BN816"}),
        (files(kraft(process_roles="broker")), "BN823", {"BN823"}),
        (files(kraft(process_roles="controller")), "BN823", {"BN823"}),
        (files(kraft(process_roles="")), "BN823", {"BN823", "BN814"}),
        (files(kraft(advertised_listeners="PLAINTEXT://a.example:1,CONTROLLER://a.example:2")), None, {"BN823"}),
        (files(kraft(advertised_listeners="PLAINTEXT://kafka-1:9092")), None, {"BN824"}),
        (files(kraft(advertised_listeners="PLAINTEXT://ip-172-31-18-160.ec2.internal:9092")), None, {"BN824"}),
        (files(kraft(advertised_listeners="PLAINTEXT://localhost:9092")), None, {"BN825"}),
        (
            files(*(kraft(node_id=n, advertised_listeners=f"PLAINTEXT://localhost:909{n}") for n in "12")),
            None,
            {"BN825"},
        ),
        (
            replace(
                files(KRAFT),
                files=tuple(
                    file(
                        kraft(node_id=n, advertised_listeners=f"PLAINTEXT://localhost:909{n}"),
                        n,
                        ((9092, int(f"909{n}")),),
                    )
                    for n in "12"
                ),
            ),
            "BN825",
            {"BN825"},
        ),
        (
            files(*brokers(1), *brokers(2, listener_security_protocol_map="PLAINTEXT:SSL,CONTROLLER:SSL")),
            "BN826",
            {"BN826"},
        ),
        (composed(kraft(advertised_listeners="PLAINTEXT://localhost:9092"), (9092, 9092)), None, {"BN825"}),
        (
            composed(kraft(advertised_listeners="PLAINTEXT://localhost:29092"), (9092, 9092)),
            "BN827",
            {"BN825", "BN827"},
        ),
        (composed(kraft(advertised_listeners="PLAINTEXT://localhost:29092"), (9093, 9093)), None, {"BN825", "BN827"}),
        (composed(kraft(advertised_listeners="PLAINTEXT://a.example:9092"), (9093, 9092)), "BN827", {"BN827"}),
        (composed(KRAFT), None, {"BN827"}),
        (composed(kraft(advertised_listeners="PLAINTEXT://kafka:9092")), None, {"BN824"}),
        (
            # One misspelled name: its protocol is that of the right one.
            files(
                kraft(
                    listeners="EXTERNL://:9092,CONTROLLER://:9093",
                    advertised_listeners="EXTERNAL://a.example:9092",
                    inter_broker_listener_name="EXTERNAL",
                    listener_security_protocol_map="EXTERNAL:SSL,CONTROLLER:SSL",
                )
            ),
            "BN815",
            {"BN815", "BN816"},
        ),
        (
            files(kraft(advertised_listeners="") + "\nadvertised.listener=X"),
            "BN834",
            {"BN834", "BN818"},
        ),
        (files(KRAFT.replace("advertised.", "cfg.advertised.")), "BN834", {"BN834", "BN818"}),
        (files(kraft(controller_quorum_voters="1@a.example:9093,2@b.example:9092")), None, set()),
        (files(kraft(controller_quorum_voters="1@a.example:9092")), "BN836", {"BN836"}),
        (files(*brokers(1, 2, controller_quorum_voters="1@a.example:9093,2@b.example:1")), "BN836", {"BN836"}),
        (files("host.name=a.example\nadvertised.port=1"), None, {"BN829"}),
        (files(kraft(advertised_host_name="a.example")), None, {"BN829"}),
        (files(kraft(advertised_listeners="PLAINTEXT://a.example:0")), None, {"BN830"}),
        *(
            (files(kraft(**THREE, advertised_listeners=f"A://{a},B://{b},C://{c}")), cause, codes)
            for a, b, c, cause, codes in (
                ("a.example:1", "a.example:2", "a.example:3", None, set()),
                ("a.example:2", "a.example:1", "a.example:3", None, {"BN831"}),
                ("a.example:3", "a.example:2", "a.example:3", "BN831", {"BN831"}),
                ("10.0.0.5:2", "a.example:7", "a.example:3", None, {"BN831"}),
                ("gw.example:2", "a.example:2", "a.example:3", None, set()),
                ("gw.example:2", "gw.example:9", "a.example:3", None, set()),
            )
        ),
    ],
)
def test_exactly_these_findings(evidence: Evidence, cause: str | None, codes: set[str]) -> None:
    found = diagnose(evidence)
    assert {finding.code for finding in found.findings} == codes
    assert (found.cause.code if found.cause else None) == cause


@pytest.mark.parametrize(
    ("bound", "advertised", "published", "severity"),
    [
        ("localhost", "a.example", None, Severity.WARNING),
        ("[::1]", "a.example", None, Severity.WARNING),
        ("127.0.0.1", "a.example", (), Severity.ERROR),
        ("localhost", "localhost", ((9092, 9092),), Severity.ERROR),
        ("localhost", "localhost", (), None),
        ("127.7.0.1", "a.example", None, None),
        ("10.0.0.5", "a.example", None, None),
        ("0.0.0.0", "a.example", ((9092, 9092),), None),
    ],
)
def test_who_reaches_a_listener_that_is_bound_to_loopback(
    bound: str, advertised: str, published: tuple[tuple[int, int], ...] | None, severity: Severity | None
) -> None:
    listeners = f"PLAINTEXT://{bound}:9092,CONTROLLER://:9093"
    text = kraft(listeners=listeners, advertised_listeners=f"PLAINTEXT://{advertised}:9092")
    found = diagnose(Evidence.without_network("files", files=(file(text, "c.yml kafka", published),)))
    told = [each for each in found.findings if each.code == "BN832"]
    assert [each.severity for each in told] == ([] if severity is None else [severity])
    assert all("PLAINTEXT://0.0.0.0:9092" in " ".join(each.remedy.broker) for each in told)


def test_a_listener_bound_to_loopback_is_wrong_where_other_brokers_bind_every_address() -> None:
    bound = kraft(node_id="3", listeners="PLAINTEXT://127.0.0.1:9092,CONTROLLER://:9093")
    odd = bound.replace("kafka-1.example", "kafka-3.example")
    local = [each.replace("//:9092", "//localhost:9092") for each in brokers(1, 2)]
    assert [each.code for each in diagnose(files(*brokers(1, 2), odd)).causes] == ["BN832"]
    assert [each.code for each in diagnose(files(*local, odd)).causes] == []


@pytest.mark.parametrize(
    ("value", "advised"),
    [
        ("PLAINTEXT://a.example:9092  # outside", "write the comment on a line of its own"),
        ("'PLAINTEXT://a.example:9092'", "remove the quotes"),
        ("PLAINTEXT:/a.example:9092", "write `NAME://host:port`"),
    ],
)
def test_what_to_change_in_an_entry_that_kafka_cannot_read(value: str, advised: str) -> None:
    found = diagnose(files(kraft(advertised_listeners=value)))
    assert [each.code for each in found.causes] == ["BN811"]
    (fix,) = {fix for each in found.findings if each.code == "BN811" for fix in each.remedy.broker}
    assert advised in fix


@pytest.mark.parametrize("published", [((9093, 29093),), None])
def test_a_listener_bound_to_loopback_is_the_cause_where_clients_are_refused(
    published: tuple[tuple[int, int], ...] | None,
) -> None:
    port = 29093 if published else 9093
    text = kraft(listeners="PLAINTEXT://localhost:9093,CONTROLLER://:1")
    only = (file(text, "c.yml kafka", published),)

    def causes(outcome: Literal["refused", "timeout"], port: int) -> list[str]:
        at = probed(f"10.9.0.9:{port}", "10.9.0.9", ("10.9.0.9",), attempts=(Attempt("10.9.0.9", outcome),))
        return [each.code for each in diagnose(replace(LIVE, bootstraps=(at,), files=only)).causes]

    assert causes("refused", port) == ["BN832"]
    others = ["BN832", "BN103"] if published else ["BN103"]
    assert causes("refused", 9999) == causes("timeout", port) == others


@pytest.mark.parametrize(
    ("advertised", "addresses", "codes"),
    [
        ("a.example", ("127.0.0.1",), {"BN832"}),
        ("localhost", ("127.0.0.1",), {"BN825"}),
        ("a.example", ("127.0.0.1", "10.0.0.5"), set()),
    ],
)
def test_a_port_that_is_published_on_loopback_only_is_for_this_machine(
    advertised: str, addresses: tuple[str, ...], codes: set[str]
) -> None:
    text = kraft(advertised_listeners=f"PLAINTEXT://{advertised}:9092")
    local = replace(file(text, "c.yml kafka", ((9092, 9092),) * len(addresses)), addresses=addresses)
    found = diagnose(Evidence.without_network("files", files=(local,)))
    assert {each.code for each in found.findings} == codes


@pytest.mark.parametrize(
    ("names", "profiles", "addresses", "together"),
    [
        (("c.yml one", "c.yml two"), ("", ""), ("", ""), True),
        (("c.yml one", "c.yml two"), ("dev", "test"), ("", ""), False),
        (("c.yml one", "c.yml two"), ("dev", ""), ("", ""), True),
        (("c.yml one", "d.yml two"), ("", ""), ("", ""), False),
        (("c.yml one", "c.yml two"), ("", ""), ("10.0.0.5", "10.0.0.6"), False),
        (("c.yml one", "c.yml two"), ("", ""), ("10.0.0.5", ""), True),
        (("c.yml one", "c.yml two"), ("", ""), ("10.0.0.5", "10.0.0.5"), True),
    ],
)
def test_one_port_of_the_host_leads_to_one_service(
    names: tuple[str, str], profiles: tuple[str, str], addresses: tuple[str, str], together: bool
) -> None:
    services = [
        replace(file(text, name, ((9092, 9092),)), profiles=tuple(profile.split()), addresses=(address,))
        for text, name, profile, address in zip(brokers(1, 2), names, profiles, addresses, strict=True)
    ]
    found = diagnose(Evidence.without_network("files", files=tuple(services)))
    assert (found.cause.code if found.cause else None) == ("BN833" if together else None)


@pytest.mark.parametrize(
    ("advertised", "published", "beside_it", "severity"),
    [
        ("data.example:9092", 9192, None, Severity.WARNING),
        ("data.example:9192", 9192, None, None),
        ("data.example:9092", 9192, ("data.example:9292", 9292), Severity.ERROR),
        ("data.example:9092", 9192, ("other.example:9292", 9292), Severity.WARNING),
        ("localhost:9092", 9192, None, Severity.ERROR),
    ],
)
def test_a_port_that_is_published_as_another_one(
    advertised: str, published: int, beside_it: tuple[str, int] | None, severity: Severity | None
) -> None:
    """The name of a host may be a gateway's, unless another listener shows that it is the Docker host's."""
    told = [(advertised, published), *([beside_it] if beside_it else ())]
    made = [
        file(kraft(node_id=str(number), advertised_listeners=f"PLAINTEXT://{end}"), f"c.yml k{number}", ((9092, port),))
        for number, (end, port) in enumerate(told, 1)
    ]
    found = diagnose(replace(files(KRAFT), files=tuple(made))).findings
    assert [each.severity for each in found if each.code == "BN827"] == ([] if severity is None else [severity])


def test_loopback_is_wrong_where_other_brokers_advertise_another_host() -> None:
    found = diagnose(files(*brokers(1, 2), kraft(node_id="3", advertised_listeners="PLAINTEXT://localhost:9092")))
    assert [each.code for each in found.causes] == ["BN825"]


def test_nothing_of_a_compose_file_is_published() -> None:
    """Unless Docker's own networks know the name, or another service may lead there."""

    def codes(**about: object) -> set[str]:
        only = replace(file(KRAFT, "c.yml kafka", ()), **about)
        return {finding.code for finding in diagnose(replace(files(KRAFT), files=(only,))).findings}

    assert codes() == {"BN827"}
    assert codes(names=("kafka", "kafka-1.example")) == codes(others_ports=(9092,)) == codes(published=None) == set()


@pytest.mark.parametrize(
    ("ends", "odd"),
    [
        (("a:9092", "b:9092", "c:9902"), "c:9902"),
        (("a:9092", "b:9902"), "b:9902"),
        (("a:9092", "b:9093", "c:9902"), None),
        (("gateway:9092", "gateway:9902"), None),
        (("a:19092", "b:19093"), None),
        (("a:19092", "b:19092", "c:9092"), None),
    ],
)
def test_an_advertised_port_unlike_the_others(ends: tuple[str, ...], odd: str | None) -> None:
    made = [kraft(node_id=f"{n}", advertised_listeners=f"PLAINTEXT://{end}") for n, end in enumerate(ends, 1)]
    found = [each for each in diagnose(files(*made)).findings if each.code == "BN835"]
    assert [each.message.partition(" ")[0] for each in found] == ([f"PLAINTEXT://{odd}"] if odd else [])
    assert {each.severity for each in found} <= {Severity.WARNING}


@pytest.mark.parametrize("bound", ["EXTERNL", "EXT"])
def test_a_misspelled_name_is_shown_with_the_right_one(bound: str) -> None:
    text = kraft(listeners=f"{bound}://:9092,CONTROLLER://:9093", advertised_listeners="EXTERNAL://a.example:9092")
    fixes = [fix for each in diagnose(files(text)).findings if each.code == "BN815" for fix in each.remedy.broker]
    assert fixes == [f"`listeners` has {bound}, which is not advertised: give both the same name"]


def test_a_right_file_is_worth_no_warning() -> None:
    """A name for containers beside one for the host is how it is done."""
    assert {each.severity for each in diagnose(files(BOB_AND_FRED)).findings} == {Severity.INFO}


def test_without_a_network_only_files_are_judged() -> None:
    found = diagnose(files(KRAFT))
    reasons = {each.reason for each in found.skipped}
    assert reasons == {Need.NETWORK.value, Need.EXECUTORS.value}
    of_files = {check.code for check in CHECKS if Need.FILES in check.needs}
    assert set(found.passed) == of_files - {"BN828"}


LIVE = replace(
    files(KRAFT),
    cluster="hq",
    bootstraps=(replace(reached(1, GATEWAY[1]), brokers=(Advertised(1, "kafka-1.example", 9092),)),),
)


def reality(**changes: object) -> Evidence:
    return replace(LIVE, bootstraps=(replace(LIVE.bootstraps[0], **changes),))


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        (LIVE, []),
        (reality(settings=(("advertised.listeners", "PLAINTEXT://kafka-1.example:9092"), ("listeners", ""))), []),
        (
            reality(brokers=(Advertised(1, "old", 9092),)),
            ["172.10.1.40:9093 returns old:9092, which the file does not advertise"],
        ),
        (reality(brokers=(Advertised(2, "old", 9092),)), ["metadata does not list node 1"]),
        (
            reality(settings=(("advertised.listeners", "PLAINTEXT://x:1"),)),
            ["advertised.listeners: the file has PLAINTEXT://kafka-1.example:9092, the broker has PLAINTEXT://x:1"],
        ),
    ],
)
def test_the_file_and_the_running_broker(evidence: Evidence, says: list[str]) -> None:
    found = [each for each in diagnose(evidence).findings if each.code == "BN828" and each.severity != "info"]
    assert [line for each in found for line in each.details] == says


def test_a_file_that_was_corrected_and_not_read_yet_is_the_cause_where_clients_fail() -> None:
    old = Advertised(1, "10.9.0.99", 9092)
    away = probed(old.endpoint, old.host, (old.host,), attempts=(Attempt(old.host, "timeout"),))
    evidence = replace(reality(brokers=(old,)), paths=(BrokerPath(old, away),))
    found = diagnose(evidence)
    assert [each.code for each in found.causes] == ["BN828"]
    (told,) = [each for each in found.findings if each.code == "BN828"]
    assert told.severity is Severity.ERROR
    assert told.remedy.broker == ("a broker reads its file at its start: restart it, or correct the file",)
    # Where clients work, the difference may be meant.
    well = replace(reached(1, old.endpoint), brokers=(old,))
    assert diagnose(replace(evidence, paths=(BrokerPath(old, well),))).causes == ()


def test_a_file_that_does_not_name_the_host_is_no_cause() -> None:
    """The broker advertises its machine's name then, so no endpoint differs from the file."""
    old = Advertised(1, "10.9.0.99", 9092)
    away = probed(old.endpoint, old.host, (old.host,), attempts=(Attempt(old.host, "timeout"),))
    unnamed = files(kraft(advertised_listeners="PLAINTEXT://:9092")).files
    settings = (("advertised.listeners", "PLAINTEXT://10.9.0.99:9092"),)
    evidence = replace(reality(brokers=(old,), settings=settings), files=unnamed, paths=(BrokerPath(old, away),))
    (told,) = [each for each in diagnose(evidence).findings if each.code == "BN828"]
    assert told.severity is Severity.WARNING


def test_files_that_were_copied_whole_have_two_faults() -> None:
    """Another node id leaves the copied endpoint as it is."""
    found = diagnose(files(*brokers(1), *brokers(1)))
    assert {each.code for each in found.causes} == {"BN820", "BN821"}


def test_a_port_of_the_host_is_published_once() -> None:
    one, two = (kraft(node_id=n, advertised_listeners="PLAINTEXT://localhost:29092") for n in ("1", "2"))
    published = (file(one, "c.yml one", ((9092, 29092),)), file(two, "c.yml two", ((9092, 29093),)))
    found = diagnose(Evidence.without_network("files", files=published))
    (told,) = [each for each in found.findings if each.code == "BN827"]
    assert told.remedy.broker == ("advertise localhost:29093, which leads to this listener",)


def test_nodes_without_a_file_are_named() -> None:
    more = reality(brokers=(*(LIVE.bootstraps[0].brokers or ()), Advertised(7, "kafka-7.example", 9092)))
    (found,) = [each for each in diagnose(more).findings if each.code == "BN828"]
    assert (found.severity, found.message) == (Severity.INFO, "no file was given for node 7")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (kraft(listeners="A://:1;B://:2"), "as one listener"),
        (kraft() + "\nEXTERNAL://gw.example:9094", "is a setting of its own, and Kafka ignores it"),
        (kraft(advertised_listeners="PLAINTEXT://http://a.example:9092"), "as one listener"),
        (
            kraft(controller_quorum_voters="1@a.example"),
            "Kafka cannot read `1@a.example`",
        ),
        (kraft(controller_quorum_voters="1@a:1 2@b:2"), "Kafka cannot read `1@a:1 2@b:2`"),
        (kraft(advertised_listeners="PLAINTEXT://${HOST}:9092"), "Kafka cannot read `PLAINTEXT://${HOST}:9092`"),
    ],
)
def test_an_entry_that_is_lost(text: str, said: str) -> None:
    found = [each.message for each in diagnose(files(text)).findings if each.code == "BN811"]
    assert any(said in each for each in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (kraft(node_id=""), "`process.roles` is set, and `node.id` is not"),
        (kraft(broker_id="2"), "`node.id` is 1 and `broker.id` is 2"),
        (kraft(broker_id="1"), None),
        (kraft(controller_quorum_voters="2@b.example:9093"), "does not name node 1"),
        (
            kraft(process_roles="broker", listeners="PLAINTEXT://:9092", controller_quorum_voters="1@b.example:9093"),
            "names node 1, which has the role `broker` only",
        ),
        (
            kraft(process_roles="broker", listeners="PLAINTEXT://:9092", controller_quorum_voters="2@b.example:9093"),
            None,
        ),
    ],
)
def test_the_id_of_a_node_fits_its_roles(text: str, said: str | None) -> None:
    found = [each.message for each in diagnose(files(text)).findings if each.code == "BN837"]
    assert len(found) == (said is not None)
    assert all(said and said in each for each in found)


def composed_text(text: str) -> set[str]:
    """The codes of a compose file, without remarks."""
    found = diagnose(Evidence.without_network("files", files=parse_compose(text, "c.yml"))).findings
    return {each.code for each in found if each.severity is not Severity.INFO}


NODE = """
services:
  kafka:
    image: {image}
    ports: ["9092:9092"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: IN://:19092,OUT://{bound}:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: IN://kafka:19092,OUT://localhost:9092
      KAFKA_INTER_BROKER_LISTENER_NAME: IN
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:PLAINTEXT,OUT:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_CONTROLLER_QUORUM_VOTERS: {voters}
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
{more}
"""
APP = """  app:
    image: registry.example/app
    environment: {{BOOTSTRAP_SERVERS: "{0}"}}
{1}"""


def node(image: str = "apache/kafka:4.1.0", bound: str = "", voters: str = "1@kafka:9093", more: str = "") -> str:
    return NODE.format(image=image, bound=bound, voters=voters, more=more)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (node(), set()),
        (node(image="confluentinc/cp-kafka:7.9.0"), {"BN837"}),
        (
            node(image="confluentinc/cp-kafka:7.9.0").replace(
                "KAFKA_NODE_ID: 1", "KAFKA_NODE_ID: 1\n      CLUSTER_ID: x"
            ),
            set(),
        ),
        (node(bound="192.168.1.5"), {"BN838"}),
        (node(bound="0.0.0.0"), set()),
        (node(voters="1@kafka:9093,2@localhost:9093"), {"BN836"}),
        (node(voters="1@kafak:9093"), {"BN836"}),
        (node(more=APP.format("kafka:19092", "")), set()),
        (node(more=APP.format("PLAINTEXT://kafka:19092", "")), set()),
        (node(more=APP.format("kafka:9092", "")), {"BN839"}),
        (node(more=APP.format("x", "    command: kafka-topics --bootstrap-server kafka:9092 --list")), {"BN839"}),
        (node(more=APP.format("x", "    command: [--kafka.server=kafka:19092]")), set()),
        (node(more=APP.format("kafka:9093", "")), {"BN839"}),
        (node(more=APP.format("localhost:9092", "")), {"BN839"}),
        (node(more=APP.format("localhost:9092", "    network_mode: host")), set()),
        (node(more=APP.format("localhost:5432", "")), set()),
        (node(more=APP.format("kafk:19092", "")), {"BN839"}),
        (node(more=APP.format("elsewhere:5432", "")), set()),
        (node(more=APP.format("broker:19092", "")), {"BN839"}),
        (node(more=APP.format("kafka:19092", "    network_mode: host")), {"BN839"}),
        (node(more=APP.format("x", "    command: --spring.kafka.bootstrap-servers=localhost:19092")), {"BN839"}),
        (node(more=APP.format("kafka:19092", "    networks: [other]")), {"BN839"}),
        (node(more=APP.format("kafka:9092", "    extra_hosts: ['kafka:10.0.0.9']")), set()),
    ],
)
def test_what_containers_make_of_it(text: str, codes: set[str]) -> None:
    assert composed_text(text) == codes


def test_a_client_is_told_the_listener_for_it() -> None:
    files = parse_compose(node(more=APP.format("kafka:9092", "")), "c.yml")
    (found,) = [each for each in diagnose(Evidence.without_network("f", files=files)).findings if each.code == "BN839"]
    assert found.subject == "app"
    assert found.message.endswith("whose listener OUT advertises localhost:9092: the client then dials itself")
    assert found.remedy.client == ("in `BOOTSTRAP_SERVERS` write kafka:19092 for kafka:9092",)


@pytest.mark.parametrize(
    ("image", "advertised", "codes"),
    [
        ("apache/kafka:3.7.1", "CONTROLLER", {"BN823"}),
        ("apache/kafka:3.9.1", "CONTROLLER", set()),
        ("apache/kafka:latest", "CONTROLLER", set()),
    ],
)
def test_what_depends_on_the_release(image: str, advertised: str, codes: set[str]) -> None:
    text = node(image=image).replace("OUT://localhost:9092", f"OUT://localhost:9092,{advertised}://kafka:9093")
    assert composed_text(text) == codes


def test_a_published_listener_with_the_address_of_its_container() -> None:
    network = "    networks: {default: {ipv4_address: 172.18.0.3}}"
    assert composed_text(node(more=network).replace("OUT://localhost", "OUT://172.18.0.3")) == {"BN824"}
    assert composed_text(node().replace("OUT://localhost", "OUT://172.18.0.3")) == set()


def test_kafka_4_has_no_zookeeper() -> None:
    text = "services: {k: {image: 'confluentinc/cp-kafka:%s', environment: [KAFKA_ADVERTISED_HOST_NAME=a.example]}}"
    assert composed_text(text.replace("%s", "8.0.0")) >= {"BN829", "BN837"}
    text = text.replace("]", ", 'KAFKA_ZOOKEEPER_CONNECT=zk:2181', KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1]")
    assert composed_text(text.replace("%s", "8.0.0")) >= {"BN829", "BN837"}
    assert "BN837" not in composed_text(text.replace("%s", "7.9.0"))
    assert composed_text(text.replace("confluentinc/cp-kafka:%s", "wurstmeister/kafka:2.13-2.8.1")) <= {"BN827"}


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("apache/kafka:3.9.1", True),
        ("confluentinc/cp-kafka:7.4.1", True),
        ("wurstmeister/kafka:2.13-2.8.1", True),
        ("bitnami/kafka:3.6", False),
        ("registry.example/kafka:1", False),
    ],
)
def test_an_image_that_is_told_neither_controllers_nor_zookeeper_starts_no_kafka(image: str, told: bool) -> None:
    text = f"services: {{k: {{image: '{image}', environment: [KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://a.example:1]}}}}"
    assert ("BN837" in composed_text(text)) is told
    assert "BN837" not in composed_text(text.replace("environment", "volumes: ['./c:/mnt/shared/config'], environment"))


def test_apaches_image_without_settings_advertises_localhost() -> None:
    text = "services: {k: {image: 'apache/kafka:4.1.0', ports: ['9092:9092']}, a: {environment: [BROKERS=k:9092]}}"
    assert composed_text(text) == {"BN825", "BN839"}
    for other in ("volumes: ['./c:/mnt/shared/config']", "command: kafka-topics"):
        assert parse_compose(text.replace("ports:", f"{other}, ports:"), "c") == ()


def test_two_brokers_in_the_hosts_network_need_a_port_each() -> None:
    text = "services: {a: %s, b: %s}" % (
        ("{network_mode: host, environment: [KAFKA_LISTENERS=PLAINTEXT://:9092]}",) * 2
    )
    assert "BN833" in composed_text(text)
    assert "BN833" not in composed_text(text.replace("9092", "9093", 1))


def test_brokers_on_one_machine_may_all_advertise_it() -> None:
    texts = [f"broker.id={n}\nlisteners=PLAINTEXT://localhost:909{n}" for n in (1, 2)]
    found = [each.severity for each in diagnose(files(*texts)).findings if each.code == "BN825"]
    assert found == [Severity.INFO, Severity.INFO]


def test_files_that_differ_in_their_voters() -> None:
    made = brokers(1, 2, controller_quorum_voters="1@a.example:9093,2@b.example:9093")
    made[1] = made[1].replace("a.example", "c.example")
    assert [each.code for each in diagnose(files(*made)).findings] == ["BN836"]


def test_two_clusters_may_have_the_same_ids() -> None:
    east = kraft(controller_quorum_voters="1@east:9093")
    assert codes_of(east, east.replace("east", "west").replace("kafka-1", "kafka-2")) == set()
    old = "broker.id=1\nzookeeper.connect=zk-{n}:2181\nadvertised.listeners=PLAINTEXT://k{n}.example:9092"
    assert codes_of(*(old.format(n=n) for n in (1, 2))) == set()
    assert codes_of(*(old.format(n=n).replace("zk-2", "zk-1") for n in (1, 2))) == {"BN820"}


def test_a_migration_has_settings_of_both_modes() -> None:
    text = """
broker.id=1
zookeeper.connect=z:2181
controller.listener.names=CONTROLLER
controller.quorum.voters=9@c.example:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
advertised.listeners=PLAINTEXT://a.example:9092
"""
    assert codes_of(text + "zookeeper.metadata.migration.enable=true") == set()
    assert codes_of(text) == {"BN823"}


def codes_of(*texts: str) -> set[str]:
    return {each.code for each in diagnose(files(*texts)).findings}


def test_zookeeper_in_the_same_container() -> None:
    text = "services: {k: {ports: ['9092:9092'], environment: [KAFKA_ZOOKEEPER_CONNECT=localhost:2181/kafka]}}"
    assert "BN836" in composed_text(text)
    assert "BN836" not in composed_text(text.replace("localhost", "zookeeper"))


def severities(text: str) -> dict[str, Severity]:
    """The codes of a compose file, each with its severity."""
    found = diagnose(Evidence.without_network("files", files=parse_compose(text, "c.yml"))).findings
    return {each.code: each.severity for each in reversed(found)}


REPLICAS = "      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (node().replace(REPLICAS, ""), True),
        (node().replace(REPLICAS, REPLICAS.replace("1", "2")), True),
        (node().replace(REPLICAS, REPLICAS.replace("OFFSETS_TOPIC", "TRANSACTION_STATE_LOG").replace("1", "3")), True),
        (node(), False),
        # The file of a distribution, which these images start from, has 1.
        (node(image="bitnamilegacy/kafka:3.9").replace(REPLICAS, ""), False),
        # The other brokers are elsewhere.
        (node(voters="1@kafka:9093,2@b.example:9093").replace(REPLICAS, ""), False),
    ],
)
def test_internal_topics_need_as_many_brokers_as_replicas(text: str, told: bool) -> None:
    assert ("BN840" in composed_text(text)) is told


@pytest.mark.parametrize(("connect", "told"), [("zookeeper:2181", True), ("zk-1.example:2181", False)])
def test_the_brokers_of_a_zookeeper_elsewhere_are_not_counted(connect: str, told: bool) -> None:
    text = ZOOKEEPER.format(image="zookeeper:3.9", port="", networks="[default]", connect=connect)
    assert ("BN840" in composed_text(text.replace("wurstmeister/kafka", "confluentinc/cp-kafka:7.5.0"))) is told


def test_as_many_brokers_as_replicas() -> None:
    voters = ",".join(f"{n}@kafka-{n}:9093" for n in (1, 2, 3))
    service = node(voters=voters).partition("services:\n")[2].replace(REPLICAS, "").replace("9092:9092", "909{n}:9092")
    three = "".join(
        service.replace("  kafka:", f"  kafka-{n}:")
        .replace("909{n}", f"909{n}")
        .replace("NODE_ID: 1", f"NODE_ID: {n}")
        .replace("kafka:19092", f"kafka-{n}:19092")
        .replace("localhost:9092", f"localhost:909{n}")
        for n in (1, 2, 3)
    )
    assert composed_text(f"services:\n{three}") == set()
    two = three[: three.index("  kafka-3:")].replace(",3@kafka-3:9093", "")
    assert composed_text(f"services:\n{two}") == {"BN840"}


TWO = """
services:
  a: {{image: '{image}', environment: {{{common}, KAFKA_CFG_NODE_ID: 1, KAFKA_NODE_ID: 1 {a}}}}}
  b: {{image: '{image}', environment: {{{common}, KAFKA_CFG_NODE_ID: 2, KAFKA_NODE_ID: 2 {b}}}}}
"""


@pytest.mark.parametrize(
    ("image", "a", "b", "told"),
    [
        ("bitnami/kafka:3.6", "", "", True),
        ("bitnami/kafka:3.6", ", KAFKA_KRAFT_CLUSTER_ID: x", ", KAFKA_KRAFT_CLUSTER_ID: x", False),
        ("bitnami/kafka:3.6", ", KAFKA_KRAFT_CLUSTER_ID: x", ", KAFKA_KRAFT_CLUSTER_ID: y", True),
        ("apache/kafka:4.1.0", ", CLUSTER_ID: x", ", CLUSTER_ID: y", True),
        ("apache/kafka:4.1.0", ", CLUSTER_ID: x", ", CLUSTER_ID: x", False),
        ("apache/kafka:4.1.0", "", "", False),
    ],
)
def test_nodes_of_one_quorum_have_one_cluster_id(image: str, a: str, b: str, told: bool) -> None:
    prefix = "KAFKA_CFG_" if "bitnami" in image else "KAFKA_"
    common = f"{prefix}PROCESS_ROLES: controller, {prefix}CONTROLLER_QUORUM_VOTERS: '1@a:9093,2@b:9093'"
    assert ("BN837" in composed_text(TWO.format(image=image, common=common, a=a, b=b))) is told


def test_a_controller_knows_the_quorum() -> None:
    assert codes_of(kraft(controller_quorum_bootstrap_servers="")) == {"BN837"}
    assert codes_of(kraft(controller_quorum_bootstrap_servers="", controller_quorum_voters="1@k.example:9093")) == set()
    without = node().replace("      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093\n", "")
    assert composed_text(without) == {"BN837"}


ZOOKEEPER = """
services:
  zookeeper: {{image: '{image}', environment: {{X: 1 {port}}}, ports: ['2182:2181'], networks: {networks}}}
  kafka:
    image: wurstmeister/kafka
    networks: [default]
    environment: [KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://a.example:9092, 'KAFKA_ZOOKEEPER_CONNECT={connect}']
"""


@pytest.mark.parametrize(
    ("connect", "port", "told"),
    [
        ("zookeeper:2181", "", None),
        ("zookeeper:2181/kafka", "", None),
        ("zookeeper:2182", "", "listens at zookeeper:2181"),
        ("zookeeper:2181", ", ZOOKEEPER_CLIENT_PORT: 32181", "listens at zookeeper:32181"),
        ("zoo:2181", "", "no service has this name"),
        ("zk.example:2181", "", None),
        ("localhost:2181", "", "the container itself"),
    ],
)
def test_zookeeper_is_where_a_broker_looks_for_it(connect: str, port: str, told: str | None) -> None:
    for image in ("zookeeper:3.9", "confluentinc/cp-zookeeper:7.5.0"):
        text = ZOOKEEPER.format(image=image, port=port, networks="[default]", connect=connect)
        evidence = Evidence.without_network("files", files=parse_compose(text, "c.yml"))
        found = [each for each in diagnose(evidence).findings if each.code == "BN836"]
        assert [told is not None and told in each.message for each in found] == ([True] if told else [])


ALONE = """
services:
  kafka:
    ports: ['{port}:9092']
    environment: [KAFKA_LISTENERS=PLAINTEXT://:9092, KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://{host}:9092]
    {more}
  app: {{environment: ['BROKERS={client}']}}
"""


@pytest.mark.parametrize(
    ("more", "client", "severity"),
    [
        ("", "other.example:1", Severity.ERROR),
        # The containers use it; what the host has of it is nobody's.
        ("", "kafka:9092", Severity.INFO),
        ("network_mode: host", "other.example:1", Severity.ERROR),
    ],
)
def test_a_published_listener_with_a_name_of_dockers_network(more: str, client: str, severity: Severity) -> None:
    text = ALONE.format(port=9092, host="kafka", more=more, client=client)
    assert severities(text)["BN824"] is severity


@pytest.mark.parametrize(
    ("client", "told"),
    [
        ("host.docker.internal:9092", True),
        ("host.docker.internal:9999", False),
        ("SSL://kafka:19092", True),
        ("PLAINTEXT://kafka:19092", False),
    ],
)
def test_clients_by_the_docker_host_and_by_another_protocol(client: str, told: bool) -> None:
    assert ("BN839" in composed_text(node(more=APP.format(client, "")))) is told


def test_a_zookeeper_in_the_variables_of_another_service_is_no_bootstrap_server() -> None:
    rest = APP.format("kafk:9092", "").replace("BOOTSTRAP_SERVERS", "KAFKA_REST_ZOOKEEPER_CONNECT")
    assert composed_text(node(more=rest)) == set()


def test_a_proxy_may_publish_what_a_broker_advertises() -> None:
    proxy = "  proxy: {image: haproxy, ports: ['9092:9092']}"
    text = node(more=proxy).replace('    ports: ["9092:9092"]\n', "    ports: ['19093:9093']\n")
    assert composed_text(text) == set()


def test_containers_that_vote_for_themselves_are_clusters_of_their_own() -> None:
    first, second = (f"  {name}:\n" + node(voters="1@localhost:9093").partition("  kafka:\n")[2] for name in "ab")
    second = second.replace("9092:9092", "9094:9092").replace("localhost:9092", "localhost:9094")
    text = f"services:\n{first}{second}".replace("kafka:19092", "IN:19092")
    assert not composed_text(text) & {"BN820", "BN836", "BN837"}


def test_services_that_no_profile_starts_together_are_no_nodes_of_one_cluster() -> None:
    first, second = (
        f"  {name}:\n    profiles: [{name}]\n" + node(voters=f"1@{name}:9093").partition("  kafka:\n")[2]
        for name in "ab"
    )
    text = f"services:\n{first}{second}".replace("IN://kafka", "IN://k.example")
    assert composed_text(text) == set()
    assert composed_text(text.replace("profiles: [b]", "profiles: [a]")) >= {"BN821", "BN833"}


@pytest.mark.parametrize(
    "name",
    ["controller.listener.name", "controller.quorum.voter", "process.role", "nodeid", "brokerid"],
)
def test_misspelled_names(name: str) -> None:
    found = [each for each in diagnose(files(f"{KRAFT}\n{name}=1")).findings if each.code == "BN834"]
    assert [each.message for each in found] == [f"`{name}` is ignored"]


def test_without_an_id_of_its_own_a_node_is_not_told_that_its_voters_are_wrong() -> None:
    text = node(voters="1@localhost:9093").replace("KAFKA_NODE_ID", "KAFKA_NODEID")
    assert "BN836" not in composed_text(text)


def test_the_controllers_listener_gets_the_port_of_its_voter() -> None:
    text = kraft(controller_quorum_voters="1@k.example:29093", listeners="PLAINTEXT://:9092")
    (found,) = [each for each in diagnose(files(text)).findings if each.code == "BN823"]
    assert found.remedy.broker == ("add CONTROLLER://:29093 to `listeners`; write the name in upper case there",)
