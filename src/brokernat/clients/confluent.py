"""confluent-kafka: the configuration of its Producer, Consumer, AdminClient and their asyncio twins.

    Producer(configure({}, hq))
    Consumer(configure({"group.id": "tags"}, hq))

The map travels as a property of each client, so two clients of one process may hold different maps for the same
advertised addresses. Nothing is imported or patched here; librdkafka loads the plug-in itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokernat.clients import librdkafka
from brokernat.config import Cluster

_PLUGINS = "plugin.library.paths"
_BOOTSTRAP_ALIAS = "metadata.broker.list"


def configure(conf: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    """The whole configuration of a client, secrets revealed: never log it.

    Args:
        conf: the program's own properties; they win over the cluster's, and its plug-ins are kept beside ours.
        cluster: the cluster, from the file or made in the program.

    Raises:
        ConfigError: a property of the cluster that librdkafka does not have, or a rule that a client cannot decide.
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
