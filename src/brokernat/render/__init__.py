"""Pure functions from an address map, or from a plan of the testbed, to the text of a configuration file."""

from brokernat.render.forwards import Forward, forwards
from brokernat.render.haproxy import haproxy
from brokernat.render.hosts import hosts
from brokernat.render.iptables import iptables
from brokernat.render.nftables import nftables
from brokernat.render.nftables_router import HostNat, nftables_router
from brokernat.render.nginx_stream import nginx, nginx_stream
from brokernat.render.rules_file import rules_file
from brokernat.render.spark import spark
from brokernat.render.spring import Syntax, spring
from brokernat.render.subject import Subject

__all__ = [
    "Forward",
    "HostNat",
    "Subject",
    "Syntax",
    "forwards",
    "haproxy",
    "hosts",
    "iptables",
    "nftables",
    "nftables_router",
    "nginx",
    "nginx_stream",
    "rules_file",
    "spark",
    "spring",
]
