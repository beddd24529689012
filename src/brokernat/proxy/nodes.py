"""Where each node is: what it advertises, what is dialled for it, and its port of the proxy.

The port of a node is a pure function of its id, so clients that know it from before a restart still find it, and all
workers agree without a word. What a node advertises is learned from the metadata that passes. It is kept in a file: a
client that knows the nodes never asks the bootstrap server again (before KIP-899), so after a restart its ports must be
there before any metadata has passed. Workers read the file of one another.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError
from brokernat.paths import exchange, state_dir

_log = logging.getLogger("brokernat.proxy")
_LAST_PORT = 65535


def node_port(listen_port: int, first_node: int, node_id: int) -> int:
    """The port of a node: the one behind the bootstrap server's for `first_node`, and so on.

    Raises:
        ConfigError: there is no such port.
    """
    port = listen_port + 1 + node_id - first_node
    if listen_port < port <= _LAST_PORT:
        return port
    message = f"node {node_id} has no port: {port} is not between {listen_port + 1} and {_LAST_PORT}"
    hint = f"`--first-node {node_id}` gives it port {listen_port + 1}; ids of all nodes count from the first one"
    raise ConfigError(Finding("node-without-port", message, hint))


class Nodes:
    """The nodes of one cluster; `address_map` is exchanged by a reload.

    Args:
        file: where they are kept; None keeps them nowhere.
    """

    def __init__(self, address_map: AddressMap | None, file: Path | None = None) -> None:
        self.address_map = address_map
        self._file = file
        self._read_at = 0
        self._advertised: dict[int, Endpoint] = {}
        self.read()

    @property
    def advertised(self) -> Mapping[int, Endpoint]:
        """By node id."""
        return self._advertised

    def learn(self, node_id: int, endpoint: Endpoint) -> None:
        """A node advertises this."""
        self._advertised[node_id] = endpoint
        self._write()

    def reachable(self, node_id: int) -> Endpoint | None:
        """What is dialled for a node, None if it is not known.

        Raises:
            UnmappedEndpointError: no rule names what it advertises.
        """
        endpoint = self._advertised.get(node_id)
        if endpoint is None or self.address_map is None:
            return endpoint
        return self.address_map.translate(endpoint, node_id).endpoint

    def bootstrap(self, server: Endpoint) -> Endpoint:
        """What is dialled for a bootstrap server: it can be dialled as it is, unless a rule names it."""
        rule = self.address_map and self.address_map.find(server)
        if rule:
            # A template needs a node id, and a bootstrap server has none yet.
            with suppress(ConfigError):
                return rule.translate(server, None)
        return server

    def reachable_or_refused(self) -> dict[int, Endpoint | None]:
        """What is dialled for each node, None where it is refused."""
        found: dict[int, Endpoint | None] = {}
        for node_id in self._advertised:
            try:
                found[node_id] = self.reachable(node_id)
            except UnmappedEndpointError:
                found[node_id] = None
        return found

    @property
    def outdated(self) -> bool:
        """Whether the file has changed since it was read."""
        try:
            return self._file is not None and self._file.stat().st_mtime_ns != self._read_at
        except OSError:
            return False

    def read(self) -> None:
        """Take what the file holds, beside what is known."""
        if self._file is None:
            return
        try:
            self._read_at = self._file.stat().st_mtime_ns
            kept = json.loads(self._file.read_text("utf-8"))
            self._advertised.update({int(node_id): Endpoint.parse(text) for node_id, text in kept.items()})
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError, ConfigError) as error:
            _log.warning("`%s` is not used: %s", self._file, error)

    def _write(self) -> None:
        if self._file is None:
            return
        made = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(json.dumps({str(key): str(value) for key, value in sorted(self._advertised.items())}))
            exchange(made, self._file)
            self._read_at = self._file.stat().st_mtime_ns
        except OSError as error:
            _log.warning("`%s` cannot be written: %s; after a restart nodes are known from metadata", made, error)


def nodes_file(cluster: Cluster, listen: Endpoint) -> Path:
    """Where the nodes of a cluster behind one port are kept."""
    servers = ",".join(map(str, cluster.bootstrap_servers))
    digest = hashlib.sha256(f"{servers} {listen}".encode()).hexdigest()[:12]
    return state_dir() / "proxy" / f"{cluster.name}-{digest}.json"
