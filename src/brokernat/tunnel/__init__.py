"""Tunnels: one forward per broker through a bastion, a Kubernetes cluster or any command.

`tunnel.open(cluster)` returns a context manager. Within its block, its attribute `cluster` is the cluster as this
machine reaches it.
"""

from brokernat.tunnel.tunnel import Tunnel

open = Tunnel  # noqa: A001 - `tunnel.open(cluster)`, as for a file

__all__ = ["Tunnel", "open"]
