"""Whatever evidence says, there is a report: the file comes from elsewhere, and what stands in it from any broker.

The evidence is made of its own types, all of its fields at random: no probe makes most of it, and a person with an
editor, another version or a hostile broker may. Endpoints, clusters and nodes are few, so that the parts of it meet.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.property.situations import SITUATIONS

from brokernat.doctor.broker_files.listeners import LISTENER_SETTINGS
from brokernat.doctor.checks import catalogue
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import (
    VERSION,
    Advertised,
    BrokerFile,
    BrokerPath,
    ClusterMetadata,
    EndpointProbe,
    Evidence,
    Identity,
    ListenerSeen,
    NameLookup,
    NodeTried,
    from_json,
    to_json,
)
from brokernat.doctor.reports.html import html_page
from brokernat.doctor.reports.json_v1 import json_v1, schema_v1
from brokernat.doctor.reports.terminal import terminal

pytestmark = pytest.mark.property

# Words that checks look for, so that they meet.
WORDS = st.one_of(
    st.sampled_from(
        ["", "a", "a:1", "192.168.1.23", "192.168.1.23:9092", "localhost", "0.0.0.0", "::1", "[fd00::1]:1"]
    ),
    st.sampled_from(["A://a:1,B://:2", "A://", "listeners", "advertised.listeners", "inter.broker.listener.name", "A"]),
    st.sampled_from(["PLAINTEXT", "SASL_SSL", "GSSAPI", "fail", "pass", "Metadata", "<b>&\x1b[1m\x9b\u202e", "{0}`%s"]),
    st.text(max_size=12),
)
RULES = st.sampled_from(
    ["a=b", "a:1=b:2", "b:2=a:1", "*.hq:9092=gw:{9092+id}", "10.0.0.0/24=10.1.0.0/24", "[fd00::1]:1=x:1"]
)
ADDRESSES = st.sampled_from(["192.168.1.23", "127.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1"])
ENDPOINTS = st.sampled_from(["a:1", "b:2", "x.hq:9092", "localhost:9092", "192.168.1.23:9092", "[fd00::1]:1"])
CLUSTERS = st.sampled_from([None, "", "c", "d"])
NODES = st.sampled_from([1, 2, 3, -1])
SECONDS = st.floats(0, 100)
NUMBERS = st.one_of(st.integers(-2, 4), st.integers(0, 70_000), st.just(2**31))
BROKERS = st.builds(
    Advertised,
    NODES,
    st.sampled_from(["a", "b", "localhost", "192.168.1.23"]) | WORDS,
    st.sampled_from([1, 2, 9092]) | NUMBERS,
)
SETTINGS = st.tuples(
    st.sampled_from(sorted(LISTENER_SETTINGS)),
    st.sampled_from(
        ["A://a:1,B://:2", "B://0.0.0.0:2", "C://:2,B://:0", "A:PLAINTEXT", "A", "B", "broker", "controller", "1"]
    )
    | WORDS,
)
MADE_OF: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    Evidence: {
        "version": st.just(VERSION),
        "rules": st.none() | st.lists(RULES, max_size=3).map(tuple),
        "mechanism": st.sampled_from([None, "PLAIN", "GSSAPI"]),
        "taken_at": st.sampled_from(["", "2026-11-21T12:00:00+00:00", "0001-01-01T00:00:00+14:00"]),
    },
    EndpointProbe: {"endpoint": ENDPOINTS, "rule": st.none() | RULES},
    BrokerPath: {"broker": BROKERS, "rule": st.none() | RULES},
    BrokerFile: {"settings": st.lists(SETTINGS, max_size=4).map(tuple)},
    NameLookup: {"addresses": st.lists(ADDRESSES, max_size=2).map(tuple)},
    ClusterMetadata: {
        "outcome": st.sampled_from(["ok", "ok", "ok", "silent", "closed"]),
        "cluster_id": CLUSTERS,
        "brokers": st.lists(BROKERS, max_size=3).map(tuple),
    },
    Identity: {"node_id": st.none() | NODES, "others": st.just(()) | st.lists(NODES, max_size=2).map(tuple)},
    ListenerSeen: {"node_id": NODES, "endpoint": ENDPOINTS | WORDS},
    NodeTried: {"node_id": NODES},
}
"""The fields that must fit together for checks to have something to find, or that `from_json` refuses otherwise."""


@cache
def made_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of the evidence."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        own = MADE_OF.get(hint, {})
        others = {each.name: made_of(hints[each.name]) for each in fields(hint) if each.name not in own}
        return st.builds(hint, **own, **others)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*map(made_of, arguments))
    if origin is tuple and arguments[-1] is ...:
        return st.lists(made_of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(made_of, arguments))
    return {str: WORDS, int: NUMBERS, float: SECONDS, bool: st.booleans(), type(None): st.none()}[hint]


def bent(draw: st.DrawFn, value: Any, anything: st.SearchStrategy[Any]) -> Any:
    """The same value with any other in one place of it."""
    if is_dataclass(value) and not isinstance(value, type):
        within = ("bootstraps", "paths") if isinstance(value, Evidence) and draw(st.booleans()) else ()
        name = draw(st.sampled_from(within or [each.name for each in fields(value)]))
        own = MADE_OF.get(type(value), {})
        other = own[name] if name in own else made_of(get_type_hints(type(value))[name])
        return replace(value, **{name: bent(draw, getattr(value, name), other)})
    if isinstance(value, tuple) and value and is_dataclass(value[0]) and draw(st.booleans()):
        number, kind = draw(st.integers(0, len(value) - 1)), cast("Any", type(value[0]))
        return (*value[:number], bent(draw, value[number], made_of(kind)), *value[number + 1 :])
    return draw(anything)


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    """Anything at all; or a situation that checks find something in, and anything in a few places of it."""
    evidence = draw(st.sampled_from([None, *SITUATIONS]))
    changes = draw(st.integers(1, 6)) if evidence else 0
    made: Evidence = evidence or draw(made_of(Evidence))
    for _ in range(changes):
        made = bent(draw, made, made_of(Evidence))
    return made


def test_every_check_finds_something_in_one_of_the_situations() -> None:
    """Or whatever is bent in them reaches no line of it."""
    found = {each.code for evidence in SITUATIONS for each in diagnose(evidence).findings}
    assert found == set(catalogue())


SCHEMA = Draft202012Validator(json.loads(schema_v1()))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(evidences())
def test_there_is_a_report_in_every_form(evidence: Evidence) -> None:
    assert from_json(to_json(evidence), "file") == evidence
    diagnosis = diagnose(evidence)
    for width in (40, 80):
        assert all(each.isprintable() or each == "\n" for each in terminal(diagnosis, width))
    SCHEMA.validate(json.loads(json.dumps(json_v1(diagnosis))))
    page = ET.fromstring(html_page(diagnosis))
    assert not {"b", "script", "img"} & {each.tag for each in page.iter()}
