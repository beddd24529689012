"""Tunnels: one forward per broker through a bastion, a Kubernetes cluster or any command.

`tunnel.open(cluster)` is a context manager; in its block `opened.cluster` is the cluster as this machine reaches it.
"""

from brokernat.tunnel.tunnel import Tunnel

open = Tunnel  # noqa: A001 - `tunnel.open(cluster)`, as for a file

__all__ = ["Tunnel", "open"]
