"""Gateways and hosts files that random maps imply lead where the maps say."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.property.test_notation import endpoints, hosts, names, networks, ports

from brokernat.address import AddressMap, CidrRule, Endpoint, HostPortRule, Rule, Unmapped
from brokernat.address.endpoint import format_ip
from brokernat.errors import NotExpressibleError
from brokernat.render import Subject, haproxy, nginx
from brokernat.render import hosts as hosts_file

pytestmark = pytest.mark.property

rules = st.one_of(
    st.builds("{}:{}={}:{}".format, hosts, ports, hosts, ports),
    st.builds("{}={}".format, hosts, hosts),
    networks(4),
    networks(6),
)
named = st.one_of(
    st.builds("{}={}".format, names, st.sampled_from(["10.0.0.1", "[fd00::1]"])),
    st.builds("{0}:{2}={1}:{2}".format, names, st.sampled_from(["10.0.0.1", "[fd00::1]"]), ports),
)
GATEWAYS = {
    "nginx": (nginx, r"listen (\S+);\s+proxy_pass (\S+);"),
    "haproxy": (haproxy, r"bind (\S+)\n(?: .*\n)*? +server broker (\S+)\n"),
}


@pytest.mark.parametrize("gateway", GATEWAYS)
@given(texts=st.lists(rules, max_size=5), bootstrap=st.lists(endpoints, min_size=1, max_size=5))
def test_a_gateway_forwards_what_clients_dial_to_the_broker_they_mean(
    gateway: str, texts: list[str], bootstrap: list[Endpoint]
) -> None:
    render, pattern = GATEWAYS[gateway]
    address_map = AddressMap.parse(",".join(texts))
    # Each rule has a bootstrap server behind it, so that the ports are known.
    behind = [_reachable(rule) for rule in address_map.rules]

    text = render(Subject("hq", (*bootstrap, *behind), address_map))

    forwards = re.findall(pattern, text)
    assert len({listen for listen, _ in forwards}) == len(forwards)
    for listen, upstream in forwards:
        assert address_map.translate(Endpoint.parse(upstream)).endpoint == Endpoint.parse(listen)
    # Nothing that the map knows by name is left out.
    for rule in address_map.rules:
        if (
            isinstance(rule, HostPortRule)
            and address_map.find(rule.advertised) == rule
            and rule.reachable != rule.advertised
        ):
            assert str(rule.reachable) in dict(forwards)


@given(texts=st.lists(named, max_size=5), port=ports)
def test_a_hosts_file_leads_where_the_map_says(texts: list[str], port: int) -> None:
    address_map = AddressMap.parse(",".join(texts), Unmapped.PASS)
    try:
        text = hosts_file(Subject("hq", (), address_map))
    except NotExpressibleError:
        assume(False)
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert {name for _, name in lines} == {str(rule.pattern.hosts) for rule in address_map.rules}
    for address, name in lines:
        found = address_map.translate(Endpoint(name, port))
        # A rule for one port is said for all of them.
        assert found.rule is None or found.endpoint == Endpoint(address, port)


def _reachable(rule: Rule) -> Endpoint:
    """An endpoint that the rule leads to."""
    match rule:
        case HostPortRule():
            return rule.reachable
        case CidrRule():
            return Endpoint(format_ip(rule.reachable.network_address), 9092)
        case _:
            return rule.translate(Endpoint("any", 9092))
