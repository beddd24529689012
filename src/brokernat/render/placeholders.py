"""The `client` section with Spring's placeholders where `brokernat.yaml` has references; no secret passes.

`${env:NAME}` becomes `${NAME}`. Spring has no placeholder for the content of a file that works in every version, so
`${file:PATH}` becomes a variable of our own making, and so does every secret that is not one reference and nothing
else: a JAAS line with one reference in it may hold a password in plain text beside it. The cluster should be loaded
with `resolve_secrets=False`; if it was not, its secrets hold no references any more and become variables too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brokernat.config import Secret
from brokernat.config.client_properties import is_secret
from brokernat.errors import ConfigError, Finding
from brokernat.render.header import Subject

_REFERENCE = re.compile(r"\$\{(env|file):([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """`properties` for Spring, and what each variable in them has to hold."""

    properties: dict[str, str]
    variables: dict[str, str]


def placeholders(subject: Subject) -> Placeholders:
    """The `client` section of a cluster, for Spring.

    Raises:
        ConfigError: a plain value holds `${`, which Spring would replace.
    """
    variables: dict[str, str] = {}
    properties: dict[str, str] = {}
    for name, value in subject.client.items():
        if isinstance(value, Secret):
            properties[name] = _replaced(name, value.reveal(), _variable(subject.cluster, name), variables)
        elif "${" in value:
            hint = "leave it out of brokernat.yaml and set it in Spring's own words"
            raise ConfigError(Finding("spring-placeholder", f"`{name}` holds `${{`, which Spring replaces", hint))
        else:
            properties[name] = value
    return Placeholders(properties, variables)


def _replaced(name: str, text: str, own: str, variables: dict[str, str]) -> str:
    whole = _REFERENCE.fullmatch(text) is not None
    if not whole and (is_secret(name) or not _REFERENCE.search(text)):
        variables[own] = f"the value of `{name}`"
        return f"${{{own}}}"

    def placeholder(found: re.Match[str]) -> str:
        source, reference = found.groups()
        variable = reference if source == "env" else own
        variables[variable] = "as in brokernat.yaml" if source == "env" else f"the content of the file {reference}"
        return f"${{{variable}}}"

    return _REFERENCE.sub(placeholder, text)


def _variable(cluster: str, name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", f"{cluster}_{name}".upper())
