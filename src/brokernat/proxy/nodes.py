"""The nodes of a cluster: advertised endpoint, dialled endpoint, and port of the proxy.

The port of a node depends only on its id, so it is the same after a restart and in all workers. Advertised endpoints
come from metadata responses and are stored in a file, which the workers share. A client that knows the nodes does not
contact the bootstrap server again (before KIP-899), so after a restart the ports must be open before the first metadata
response.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, UnmappedEndpointError
from brokernat.paths import replacing, state_dir

_log = logging.getLogger("brokernat.proxy")
_LAST_PORT = 65535


def node_port(listen_port: int, first_node: int, node_id: int) -> int:
    """The port of a node: for `first_node` the bootstrap server's port + 1, and so on.

    Raises:
        ConfigError: the result is not a valid port.
    """
    port = listen_port + 1 + node_id - first_node
    if listen_port < port <= _LAST_PORT:
        return port
    message = f"node {node_id} has no port: {port} is not between {listen_port + 1} and {_LAST_PORT}"
    hint = f"`--first-node {node_id}` gives it port {listen_port + 1}; ids of all nodes count from the first one"
    raise ConfigError(Finding("node-without-port", message, hint))


class Nodes:
    """The nodes of one cluster; a reload replaces `address_map`.

    Args:
        file: stores the nodes; None for no file.
    """

    def __init__(self, address_map: AddressMap | None, file: Path | None = None) -> None:
        self.address_map = address_map
        self._file = file
        self._file_version = (0, 0)
        self._advertised: dict[int, Endpoint] = {}
        self._stored: dict[int, Endpoint] = {}
        """The nodes in the file when it was last read or written."""
        self.read()

    @property
    def advertised(self) -> Mapping[int, Endpoint]:
        """Advertised endpoints by node id."""
        return self._advertised

    def learn(self, node_id: int, endpoint: Endpoint) -> None:
        """Use the advertised endpoint of a node; `save` stores it."""
        self._advertised[node_id] = endpoint

    def reachable(self, node_id: int) -> Endpoint | None:
        """The endpoint to dial for a node, None for an unknown node.

        Raises:
            UnmappedEndpointError: its advertised endpoint has no rule.
            ConfigError: its rule gives it no valid port.
        """
        endpoint = self._advertised.get(node_id)
        if endpoint is None or self.address_map is None:
            return endpoint
        return self.address_map.translate(endpoint, node_id).endpoint

    def bootstrap(self, server: Endpoint) -> Endpoint:
        """The endpoint to dial for a bootstrap server: the target of its rule, or itself."""
        rule = self.address_map and self.address_map.find(server)
        if rule:
            # A template needs a node id, and the node id of a bootstrap server is unknown.
            with suppress(ConfigError):
                return rule.translate(server, None)
        return server

    def dial_target(self, node_id: int) -> Endpoint | None:
        """The endpoint to dial for a node, None for an unknown or a refused one."""
        try:
            return self.reachable(node_id)
        except (UnmappedEndpointError, ConfigError):
            return None

    @property
    def outdated(self) -> bool:
        """Whether the file has changed since it was read."""
        try:
            return self._file is not None and _version(self._file) != self._file_version
        except OSError:
            return False

    def read(self) -> None:
        """Read the file and add its nodes. It does not replace an endpoint that is not saved yet."""
        if self._file is None:
            return
        unsaved = dict(self._advertised.items() - self._stored.items())
        self._stored = {}
        try:
            self._file_version = _version(self._file)
            stored = json.loads(self._file.read_text("utf-8"))
            self._stored = {int(node_id): Endpoint.parse(text) for node_id, text in stored.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, AttributeError, TypeError, ConfigError) as error:
            _log.warning("ignoring `%s`: %s", self._file, error)
        self._advertised |= self._stored | unsaved

    def save(self) -> None:
        """Write all nodes if the file lacks one of them. Call `read` before if it is `outdated`.

        Two workers may write at the same time. The one whose nodes are lost sees another file, reads it, and writes
        the nodes of both.
        """
        if self._file is None or self._advertised == self._stored:
            return
        # Also after an error, which is reported once.
        self._stored = dict(self._advertised)
        text = json.dumps({str(key): str(value) for key, value in sorted(self._stored.items())})
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._file) as new:
                new.write_text(text)
                # Before the rename, after which the file may already be another worker's.
                version = _version(new)
            self._file_version = version
        except OSError as error:
            _log.warning("`%s` cannot be written: %s; after a restart the nodes come from metadata", self._file, error)


def _version(file: Path) -> tuple[int, int]:
    """Differs after each replacement of a file, also within one tick of the file system's clock."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns


def nodes_file(cluster: Cluster, listen: Endpoint) -> Path:
    """The file of the nodes of a cluster with this listen port."""
    servers = ",".join(map(str, cluster.bootstrap_servers))
    digest = hashlib.sha256(f"{servers} {listen}".encode()).hexdigest()[:12]
    return state_dir() / "proxy" / f"{cluster.name}-{digest}.json"
