"""A cluster of the file: one immutable value that configures every client.

For Java clients `sasl.username` and `sasl.password` become a JAAS line; an explicit `sasl.jaas.config` wins. Kafka's
JaasConfig parses the line with java.io.StreamTokenizer, so quotes, backslashes and line ends in a password are escaped.
Without that they would end the string, and the error would show the rest of the password.
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

    `bootstrap_servers` are reachable from here. `client` holds client properties in Kafka's names. `address_map` is
    None if the file has no map: clients then use the map of their JVM, if there is one. With an empty map, clients use
    no map, even if the JVM has one. `profile` chooses the settings of Spark's clients. With a `tunnel`, clients reach
    the brokers through it, and the map has the endpoints that the far end dials (`brokernat.tunnel`).
    """

    name: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap | None = None
    client: Mapping[str, str | Secret] = field(default_factory=lambda: MappingProxyType({}))
    profile: Profile = "auto"
    tunnel: TunnelSection | None = None
    tunnel_is_open: bool = False
    """Whether the map has the local ports of an open tunnel, which only clients on this machine can reach."""
    companions: Mapping[Endpoint, Endpoint] = field(default_factory=lambda: MappingProxyType({}))
    """The local endpoints of an open tunnel's additional endpoints (`also`)."""

    def __post_init__(self) -> None:
        """Converts `security.protocol` to upper case, because the Python libraries require it.

        Raises:
            ConfigError: Kafka has no such protocol.
        """
        written = self.client.get("security.protocol")
        if written is not None and (protocol := security_protocol(written)) != written:
            client = MappingProxyType({**self.client, "security.protocol": protocol})
            object.__setattr__(self, "client", client)

    def kafka_properties(self) -> dict[str, str]:
        """The properties of a Java client, in Kafka's names. They hold revealed secrets: never log them.

        Raises:
            ConfigError: code `needs-node-id`: the map holds a rule that a client cannot apply; code
                `closed-tunnel`: see `require_open`.
        """
        self.require_open()
        return kafka_properties(self.bootstrap_servers, self.address_map, self.client)

    def reachable(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint to dial for a server that is not a broker, such as a schema registry."""
        if endpoint in self.companions:
            return self.companions[endpoint]
        rule = self.address_map.find(endpoint) if self.address_map else None
        return rule.translate(endpoint) if rule else endpoint

    def require_open(self) -> None:
        """Raise ConfigError (`closed-tunnel`) if the cluster has a tunnel that is not open."""
        if self.tunnel is not None and not self.tunnel_is_open:
            message = f"cluster `{self.name}` needs a tunnel, which this program has not opened"
            hint = (
                "`with brokernat.tunnel.open(cluster) as opened:` and use `opened.cluster`, or start the program by "
                f"`brokernat tunnel --cluster {self.name} -- COMMAND`"
            )
            raise ConfigError(Finding("closed-tunnel", message, hint))


UNNAMED = "cluster"
"""The name of a cluster that was given on the command line."""


def require_cluster(value: object) -> None:
    """Raise TypeError, with the way to get a cluster, if a value is none; it is not shown, as it may hold secrets."""
    if not isinstance(value, Cluster):
        name = f'"{value}"' if isinstance(value, str) else "NAME"
        raise TypeError(
            f'a brokernat.config.Cluster is needed, not {type(value).__name__}: load("brokernat.yaml").cluster({name})'
        )


_JAAS_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def kafka_properties(
    bootstrap_servers: Sequence[Endpoint], address_map: AddressMap | None, client: Mapping[str, str | Secret]
) -> dict[str, str]:
    """Properties in Kafka's names; the map's properties only if there is a map."""
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
    """The value of `sasl.jaas.config` for a login module with user name and password."""
    return f'{module} required username="{_quoted(username)}" password="{_quoted(password)}";'


def _quoted(text: str) -> str:
    return text.translate(_JAAS_ESCAPES)
