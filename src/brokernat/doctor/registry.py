"""The checks, in the order in which a client meets what they are about. The order also chooses the root cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.doctor.checks import (
    bn004_time_ran_out,
    bn101_doubtful_bootstrap,
    bn102_bootstrap_name,
    bn103_bootstrap_unreachable,
    bn104_not_kafka,
    bn201_advertised_loopback,
    bn202_other_private_network,
    bn203_inside_name,
    bn204_advertised_nothing,
    bn205_same_endpoint,
    bn301_advertised_name,
    bn302_advertised_unreachable,
    bn303_some_addresses_fail,
    bn304_reached_by_map,
    bn305_unreachable_with_map,
    bn401_tls_mismatch,
    bn402_certificate_name,
    bn403_certificate_chain,
    bn404_login,
    bn405_client_certificate,
    bn501_clusters_differ,
    bn502_listeners_mixed,
    bn503_brokers_absent,
    bn601_another_node,
    bn602_balancer,
    bn603_another_listener,
    bn604_not_provable,
    bn605_rule_missing,
    bn606_rule_unused,
)

if TYPE_CHECKING:
    from brokernat.doctor.finding import Check

CHECKS: tuple[Check, ...] = (
    bn102_bootstrap_name.CHECK,
    bn103_bootstrap_unreachable.CHECK,
    bn104_not_kafka.CHECK,
    bn401_tls_mismatch.CHECK,
    bn403_certificate_chain.CHECK,
    bn405_client_certificate.CHECK,
    bn402_certificate_name.CHECK,
    bn404_login.CHECK,
    bn101_doubtful_bootstrap.CHECK,
    bn501_clusters_differ.CHECK,
    bn502_listeners_mixed.CHECK,
    bn205_same_endpoint.CHECK,
    bn204_advertised_nothing.CHECK,
    bn201_advertised_loopback.CHECK,
    bn605_rule_missing.CHECK,
    bn305_unreachable_with_map.CHECK,
    bn601_another_node.CHECK,
    bn603_another_listener.CHECK,
    bn602_balancer.CHECK,
    bn301_advertised_name.CHECK,
    bn302_advertised_unreachable.CHECK,
    bn503_brokers_absent.CHECK,
    bn202_other_private_network.CHECK,
    bn203_inside_name.CHECK,
    bn303_some_addresses_fail.CHECK,
    bn604_not_provable.CHECK,
    bn606_rule_unused.CHECK,
    bn304_reached_by_map.CHECK,
    bn004_time_ran_out.CHECK,
)
