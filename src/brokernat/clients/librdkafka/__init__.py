"""librdkafka, and what is built on it: the libraries that travel in this package, and a cluster in its own names."""

from brokernat.clients.librdkafka.library import plugin_library, preload_library
from brokernat.clients.librdkafka.properties import properties

__all__ = ["plugin_library", "preload_library", "properties"]
