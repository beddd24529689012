"""Pure functions from a plan to the text of a configuration file."""

from brokernat.render.nftables import HostNat, nftables
from brokernat.render.nginx_stream import Forward, nginx_stream

__all__ = ["Forward", "HostNat", "nftables", "nginx_stream"]
