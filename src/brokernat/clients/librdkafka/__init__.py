"""librdkafka, and what is built on it: the libraries that travel in this package, and a cluster in its own names."""

from brokernat.clients.librdkafka.plugin import plugin_library, preload_library, properties

__all__ = ["plugin_library", "preload_library", "properties"]
