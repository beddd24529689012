"""A small Kafka-aware proxy, for clients that nothing can be loaded into."""

from brokernat.proxy.running import RunningProxy, serve
from brokernat.proxy.server import Limits, Proxy, Settings

__all__ = ["Limits", "Proxy", "RunningProxy", "Settings", "serve"]
