"""The checks of brokers' files, in the order of the root cause: what stops a broker, then what misleads clients."""

from __future__ import annotations

from brokernat.doctor.checks import (
    bn811_listener_unreadable,
    bn812_given_twice,
    bn813_port_twice,
    bn814_no_protocol,
    bn815_advertised_without_listener,
    bn816_not_advertised,
    bn817_wildcard_advertised,
    bn818_own_name_advertised,
    bn819_inter_broker_listener,
    bn820_same_node_id,
    bn821_same_endpoint_in_files,
    bn822_listener_on_some,
    bn823_controller_listener,
    bn824_inside_name_in_file,
    bn825_loopback_in_file,
    bn826_protocols_differ,
    bn827_port_not_published,
    bn828_file_and_reality,
    bn829_former_settings,
)
from brokernat.doctor.finding import Check

FILE_CHECKS: tuple[Check, ...] = (
    bn811_listener_unreadable.CHECK,
    bn812_given_twice.CHECK,
    bn814_no_protocol.CHECK,
    bn813_port_twice.CHECK,
    bn815_advertised_without_listener.CHECK,
    bn819_inter_broker_listener.CHECK,
    bn823_controller_listener.CHECK,
    bn817_wildcard_advertised.CHECK,
    bn820_same_node_id.CHECK,
    bn821_same_endpoint_in_files.CHECK,
    bn826_protocols_differ.CHECK,
    bn822_listener_on_some.CHECK,
    bn825_loopback_in_file.CHECK,
    bn827_port_not_published.CHECK,
    bn828_file_and_reality.CHECK,
    bn816_not_advertised.CHECK,
    bn818_own_name_advertised.CHECK,
    bn824_inside_name_in_file.CHECK,
    bn829_former_settings.CHECK,
)
