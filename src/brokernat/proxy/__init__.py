"""A small Kafka-aware proxy for clients that cannot load the map."""

from brokernat.proxy.running import RunningProxy, serve
from brokernat.proxy.server import Limits, Proxy, Settings

__all__ = ["Limits", "Proxy", "RunningProxy", "Settings", "serve"]
