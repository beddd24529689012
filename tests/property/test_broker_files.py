"""What is rendered for brokers is read back as it was meant, and found right."""

from contextlib import suppress

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from brokernat.config.client_properties import PROTOCOLS
from brokernat.config.java_properties import Property, parse_properties
from brokernat.doctor.broker_files.compose import parse_compose
from brokernat.doctor.broker_files.listeners import broker_listeners, parse_server_properties
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import BrokerFile, Evidence
from brokernat.doctor.finding import Severity
from brokernat.errors import ConfigError
from brokernat.render.broker_files import compose, listeners
from brokernat.render.listeners_plan import ListenersPlan, Quorum, Wanted, plan_listeners

pytestmark = pytest.mark.property

NAMES = st.sampled_from(["BOB", "FRED", "ALICE", "A_B", "X-1", "PLAINTEXT"])
HOSTS = st.sampled_from(["kafka-{id}", "b{id}.example.com", "10.1.{id}.9", "[fd00::{id}]", "gw.example", "localhost"])
PORTS = st.integers(1, 60000).flatmap(lambda port: st.sampled_from([str(port), f"{{{port}+id}}"]))
ENDPOINTS = st.builds("{}:{}".format, HOSTS, PORTS)


@st.composite
def plans(draw: st.DrawFn, quorums: tuple[Quorum, ...] = tuple(Quorum)) -> ListenersPlan:
    """Any plan that is one, with an endpoint for clients elsewhere."""
    advertised: dict[str, str] = {**draw(st.dictionaries(NAMES, ENDPOINTS, max_size=3)), "OUT": "out-{id}.example:9092"}
    bound = {name: str(70 + number) for number, name in enumerate(advertised)}
    protocols = draw(st.fixed_dictionaries({name: st.sampled_from(PROTOCOLS) for name in advertised}))
    inter_broker = draw(st.sampled_from(sorted(advertised)))
    wanted = Wanted(advertised, bound, protocols, inter_broker, quorum=draw(st.sampled_from(quorums)))
    try:
        return plan_listeners(wanted, range(draw(st.integers(1, 4))))
    except ConfigError:
        # Two would have one endpoint: what is refused is for the unit tests.
        return plan_listeners(Wanted({"OUT": "out-{id}.example:9092"}, {}, {}, quorum=wanted.quorum), [0])


def right(files: tuple[BrokerFile, ...], plan: ListenersPlan) -> None:
    """Each file says what was planned; brokers that would dial themselves are all that may be found."""
    for file, broker in zip(files, plan.brokers, strict=True):
        read = broker_listeners(file)
        assert read.unreadable == ()
        assert read.node_id == broker.node_id
        assert [(each.name, each.endpoint) for each in read.advertised] == [
            (each.name, str(each.advertised)) for each in broker.listeners
        ]
        assert {each.name: each.port for each in read.of_clients()} == {
            each.name: each.bound_port for each in broker.listeners
        }
        assert all(read.protocols[each.name] == each.protocol for each in broker.listeners)
    findings = diagnose(Evidence.without_network("files", files=files)).findings
    found = {each.code for each in findings if each.severity is not Severity.INFO}
    inter_broker = [each.advertised.host for each in plan.brokers[0].listeners if each.name == plan.inter_broker]
    assert found <= ({"BN825"} if inter_broker == ["localhost"] else set())


@given(plans())
def test_server_properties(plan: ListenersPlan) -> None:
    try:
        texts = [listeners(plan, "x", broker.node_id) for broker in plan.brokers]
    except ConfigError:
        # All controllers would be at one endpoint.
        reject()
    right(tuple(BrokerFile(f"f{n}", parse_server_properties(each, "f")) for n, each in enumerate(texts)), plan)


@given(plans((Quorum.COMBINED,)))
def test_compose(plan: ListenersPlan) -> None:
    try:
        text = compose(plan, "x")
    except ConfigError:
        # Two would be published on one port.
        reject()
    right(parse_compose(text, "c"), plan)


@given(st.text())
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for parse in (parse_properties, parse_compose):
        with suppress(ConfigError):
            parse(text, "f")


@given(st.lists(st.sampled_from("ab=: \t\\\n\r#!u0041é"), max_size=40).map("".join))
def test_a_name_without_escapes_comes_back(text: str) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in text)
    assert parse_properties(f"{escaped}={escaped}", "f") == (Property(text, text, 1),)
