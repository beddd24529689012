"""Whatever evidence says, there is a report: the file comes from elsewhere, and what stands in it from any broker.

The evidence is made of its own types, all of its fields at random: no probe makes most of it, and a person with an
editor, another version or a hostile broker may.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import VERSION, Evidence, NameLookup, from_json, to_json
from brokernat.doctor.reports.html import html_page
from brokernat.doctor.reports.json_v1 import json_v1
from brokernat.doctor.reports.shape_v1 import schema_v1
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
RULES = st.sampled_from(["a=b", "a:1=b:2", "*.hq:9092=gw:{9092+id}", "10.0.0.0/24=10.1.0.0/24", "[fd00::1]:1=x:1"])
ADDRESSES = st.sampled_from(["192.168.1.23", "127.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1"])
SECONDS = st.floats(0, 100)
NUMBERS = st.one_of(st.integers(-2, 4), st.integers(0, 70_000), st.just(2**31))


def made_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of the evidence."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        given_fields = {each.name: made_of(hints[each.name]) for each in fields(hint)}
        if hint is Evidence:
            given_fields |= {"version": st.just(VERSION), "rules": st.none() | st.lists(RULES, max_size=3).map(tuple)}
        if hint is NameLookup:
            given_fields["addresses"] = st.lists(ADDRESSES, max_size=2).map(tuple)
        return st.builds(hint, **given_fields)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*map(made_of, arguments))
    if origin is tuple and arguments[-1] is ...:
        return st.lists(made_of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(made_of, arguments))
    return {str: WORDS, int: NUMBERS, float: SECONDS, bool: st.booleans(), type(None): st.none()}[hint]


SCHEMA = Draft202012Validator(json.loads(schema_v1()))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(made_of(Evidence))
def test_there_is_a_report_in_every_form(evidence: Evidence) -> None:
    assert from_json(to_json(evidence), "file") == evidence
    diagnosis = diagnose(evidence)
    for width in (40, 80):
        assert all(each.isprintable() or each == "\n" for each in terminal(diagnosis, width))
    SCHEMA.validate(json.loads(json.dumps(json_v1(diagnosis))))
    page = ET.fromstring(html_page(diagnosis))
    assert not {"b", "script", "img"} & {each.tag for each in page.iter()}
