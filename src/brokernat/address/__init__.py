"""Endpoints, rules and the address map: values only, no I/O."""

from brokernat.address.address_map import AddressMap, Translation, Unmapped, canonical_text, fingerprint, pair
from brokernat.address.endpoint import Endpoint, NodeEndpoint, listen_endpoint, not_bound
from brokernat.address.lint import lint
from brokernat.address.notation import RuleText, parse_rule, split_rules
from brokernat.address.rules import CidrRule, HostPortRule, HostRule, NodeIdRule, Rule, WildcardRule

__all__ = [
    "AddressMap",
    "CidrRule",
    "Endpoint",
    "HostPortRule",
    "HostRule",
    "NodeEndpoint",
    "NodeIdRule",
    "Rule",
    "RuleText",
    "Translation",
    "Unmapped",
    "WildcardRule",
    "canonical_text",
    "fingerprint",
    "lint",
    "listen_endpoint",
    "not_bound",
    "pair",
    "parse_rule",
    "split_rules",
]
