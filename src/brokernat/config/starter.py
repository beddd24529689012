"""The first `brokernat.yaml`: what `brokernat init` writes, and the same with a cluster that is known already."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

from brokernat.address import Endpoint
from brokernat.config.editing import address_map_lines
from brokernat.config.merging import ProvenRule

CLUSTER = "hq"
"""The cluster's name in the file."""

_SERVERS = re.compile(r"(?m)^    bootstrap_servers: .*$")
_RULES = re.compile(r"(?m)^    address_map:\n(?:      - .*\n)+")
_CLIENT = re.compile(r"(?m)^    # client:\n(?:    #   .*\n)+")
_OTHER_CLUSTER = re.compile(r"(?m)^  local:\n    bootstrap")
# Text that no version of YAML takes for something else.
_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z/][A-Za-z0-9_./-]*", re.IGNORECASE)


def starter_file() -> str:
    """A commented file with example clusters."""
    return files("brokernat.config").joinpath("starter.yaml").read_text("utf-8")


def first_file(servers: Sequence[Endpoint], client: Mapping[str, str], proven: Sequence[ProvenRule]) -> str:
    """The same file with one cluster in it, named `CLUSTER`.

    Args:
        servers: its bootstrap servers.
        client: its client properties as they are to stand in the file, with `${env:NAME}` for secrets.
        proven: at least one rule.
    """
    text = _SERVERS.sub(lambda _: f"    bootstrap_servers: {','.join(map(str, servers))}", starter_file(), count=1)
    rules = "".join(f"{line}\n" for line in address_map_lines(proven, "    "))
    text = _RULES.sub(lambda _: rules, text)
    text = _OTHER_CLUSTER.sub("  # local:\n  #   bootstrap", text)
    if client:
        lines = "".join(f"      {name}: {_scalar(value)}\n" for name, value in client.items())
        text = _CLIENT.sub(lambda _: f"    client:\n{lines}", text)
    return text


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
