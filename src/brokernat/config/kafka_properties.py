"""The properties of a Java client, from what a cluster says.

`sasl.username` and `sasl.password` become the JAAS line that the Java client wants; an explicit `sasl.jaas.config`
wins. The line is read by java.io.StreamTokenizer (Kafka's JaasConfig), so a quote, a backslash or a line end in a
password is escaped here, or it would end the string and the error would show the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brokernat.address import AddressMap, Endpoint, canonical_text
from brokernat.config.client_properties import LOGIN_MODULES
from brokernat.config.secrets import Secret

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
