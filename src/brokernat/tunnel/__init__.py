"""Tunnels that open themselves: one forward per broker through a bastion, a Kubernetes cluster or any command::

from brokernat import config, tunnel

with tunnel.open(config.load().cluster("hq")) as opened:
    consumer = Consumer(confluent.configure({...}, opened.cluster))
"""

from brokernat.tunnel.tunnel import Tunnel

open = Tunnel  # noqa: A001 - `tunnel.open(cluster)`, as for a file

__all__ = ["Tunnel", "open"]
