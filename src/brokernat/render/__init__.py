"""Pure functions from an address map, or from a plan of the testbed, to the text of a configuration file."""

from brokernat.render.client_files import Syntax, hosts, rules_file, spark, spring
from brokernat.render.gateways import Forward, forwards, haproxy, kubectl, nginx, nginx_stream, ssh
from brokernat.render.header import Subject
from brokernat.render.packet_filters import HostNat, iptables, nftables, nftables_router

__all__ = [
    "Forward",
    "HostNat",
    "Subject",
    "Syntax",
    "forwards",
    "haproxy",
    "hosts",
    "iptables",
    "kubectl",
    "nftables",
    "nftables_router",
    "nginx",
    "nginx_stream",
    "rules_file",
    "spark",
    "spring",
    "ssh",
]
