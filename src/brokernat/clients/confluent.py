"""confluent-kafka: the configuration of its Producer, Consumer, AdminClient and their asyncio classes::

    Producer(configure({}, hq))
    Consumer(configure({"group.id": "tags"}, hq))

The map is a property of each client, so two clients of one process may have different maps for the same advertised
addresses. This module imports and patches no library; librdkafka loads the plug-in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokernat.clients import librdkafka
from brokernat.config import Cluster

_PLUGINS = "plugin.library.paths"
_BOOTSTRAP_ALIAS = "metadata.broker.list"


def configure(conf: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    """The complete configuration of a client. It contains revealed secrets: never log it.

    Args:
        conf: the program's own properties. They override the cluster's; the plug-ins of both are loaded.
        cluster: the cluster, from the file or made in the program.

    Returns:
        Properties in librdkafka's names: bootstrap servers, plug-in, map, the cluster's `client`, and `conf`.

    Raises:
        ConfigError: librdkafka does not have a property of the cluster, or a client cannot apply a rule of the map.
        MissingToolError: the plug-in was not built.
    """
    result: dict[str, Any] = {**librdkafka.properties(cluster, given=conf)}
    plugins = [paths for paths in (result.get(_PLUGINS), conf.get(_PLUGINS)) if paths]
    if _BOOTSTRAP_ALIAS in conf:
        del result["bootstrap.servers"]
    result |= conf
    if plugins:
        result[_PLUGINS] = ";".join(plugins)
    return result
