"""A cluster of the file: one immutable value from which every client is configured.

For Java clients `sasl.username` and `sasl.password` become the JAAS line that they want; an explicit `sasl.jaas.config`
wins. The line is read by java.io.StreamTokenizer (Kafka's JaasConfig), so a quote, a backslash or a line end in a
password is escaped here, or it would end the string and the error would show the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from brokernat.address import AddressMap, Endpoint, canonical_text
from brokernat.config.client_properties import LOGIN_MODULES, security_protocol
from brokernat.config.fields import Profile
from brokernat.config.secrets import Secret
from brokernat.errors import ConfigError, Finding

if TYPE_CHECKING:
    from brokernat.config.model import TunnelSection


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of the file.

    `bootstrap_servers` can be dialled from here. `client` holds client properties in Kafka's own names. `address_map`
    is None if the file has no map: clients then use the map of their JVM, if there is one. An empty map is different:
    these clients use no map, even if the JVM has one. `profile` chooses the settings of Spark's clients. With a
    `tunnel` the brokers are reached through it, and the map has what its far end dials (`brokernat.tunnel`).
    """

    name: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap | None = None
    client: Mapping[str, str | Secret] = field(default_factory=lambda: MappingProxyType({}))
    profile: Profile = "auto"
    tunnel: TunnelSection | None = None
    tunnel_is_open: bool = False
    """The map leads into the tunnel, so clients of this machine reach the brokers, and those of others do not."""
    companions: Mapping[Endpoint, Endpoint] = field(default_factory=lambda: MappingProxyType({}))
    """Where the further endpoints of an open tunnel (`also`) are on this machine."""

    def __post_init__(self) -> None:
        """Every client gets `security.protocol` in upper case, because the Python libraries accept nothing else.

        Raises:
            ConfigError: Kafka has no such protocol.
        """
        written = self.client.get("security.protocol")
        if written is not None and (protocol := security_protocol(written)) != written:
            client = MappingProxyType({**self.client, "security.protocol": protocol})
            object.__setattr__(self, "client", client)

    def kafka_properties(self) -> dict[str, str]:
        """The properties of a Java client, in Kafka's own names. They hold revealed secrets: never log them.

        Raises:
            ConfigError: code `needs-node-id`: the map holds a rule that a client cannot apply; code
                `closed-tunnel`: see `require_open`.
        """
        self.require_open()
        return kafka_properties(self.bootstrap_servers, self.address_map, self.client)

    def reachable(self, endpoint: Endpoint) -> Endpoint:
        """Where something beside the brokers, such as a schema registry, is dialled: by a rule, or as it is."""
        if endpoint in self.companions:
            return self.companions[endpoint]
        rule = self.address_map.find(endpoint) if self.address_map else None
        return rule.translate(endpoint) if rule else endpoint

    def require_open(self) -> None:
        """Raise ConfigError (`closed-tunnel`) where the tunnel is not open: its addresses lead nowhere."""
        if self.tunnel is not None and not self.tunnel_is_open:
            message = f"cluster `{self.name}` needs a tunnel, which this program has not opened"
            hint = (
                "`with brokernat.tunnel.open(cluster) as opened:` and use `opened.cluster`, or start the program by "
                f"`brokernat tunnel --cluster {self.name} -- COMMAND`"
            )
            raise ConfigError(Finding("closed-tunnel", message, hint))


_JAAS_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def kafka_properties(
    bootstrap_servers: Sequence[Endpoint], address_map: AddressMap | None, client: Mapping[str, str | Secret]
) -> dict[str, str]:
    """Kafka's own names to text; the map's properties only where there is a map."""
    properties = {"bootstrap.servers": ",".join(map(str, bootstrap_servers))}
    properties |= {name: value.reveal() if isinstance(value, Secret) else value for name, value in client.items()}
    username, password = properties.pop("sasl.username", None), properties.pop("sasl.password", None)
    module = LOGIN_MODULES.get(properties.get("sasl.mechanism", ""))
    if module and username is not None and password is not None:
        properties.setdefault("sasl.jaas.config", jaas_line(module, username, password))
    if address_map is not None:
        properties["brokernat.map"] = canonical_text(address_map)
        properties["brokernat.unmapped"] = address_map.unmapped.value
    return properties


def jaas_line(module: str, username: str, password: str) -> str:
    """The value of `sasl.jaas.config` for a login module that takes a user name and a password."""
    return f'{module} required username="{_quoted(username)}" password="{_quoted(password)}";'


def _quoted(text: str) -> str:
    return text.translate(_JAAS_ESCAPES)
