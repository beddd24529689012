"""A token for OAUTHBEARER: what a command prints, or what a file holds.

A token endpoint is not asked: the flow, its scopes and its secrets are the client's own business, and whoever has them
has a command too (`--token-command`). A `file:` URL in Kafka's `sasl.oauthbearer.token.endpoint.url` (KIP-768) is the
one case where reading is all there is to do. The token goes nowhere but to the broker.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from brokernat.errors import ConfigError, Finding

_TIMEOUT = 60
# RFC 6750, 2.1: what a bearer token may be made of.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def token(properties: Mapping[str, str], command: str | None) -> str | None:
    """The token, None where nobody gives one.

    Raises:
        ConfigError: the command fails, the file cannot be read, or neither holds a token.
    """
    if command is not None:
        return _checked(_printed(command), "`--token-command`")
    url = urlsplit(properties.get("sasl.oauthbearer.token.endpoint.url", ""))
    if url.scheme != "file":
        return None
    file = Path(url2pathname(url.path))
    try:
        return _checked(file.read_text("utf-8"), f"`{file}`")
    except (OSError, UnicodeDecodeError) as error:
        raise _problem(f"the token in `{file}` cannot be read: {type(error).__name__}") from None


def _printed(command: str) -> str:
    try:
        # What it says on stderr is for the person who runs the doctor; what it prints is a secret.
        done = subprocess.run(
            shlex.split(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_TIMEOUT, check=False
        )
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        raise _problem(f"`--token-command` cannot be run: {type(error).__name__}") from None
    if done.returncode:
        raise _problem(f"`--token-command` ended with status {done.returncode}")
    return done.stdout.decode(errors="replace")


def _checked(text: str, source: str) -> str:
    if not _TOKEN.fullmatch(text.strip()):
        raise _problem(f"{source} gives no token: one word of letters, digits and `.-_~+/=` is wanted")
    return text.strip()


def _problem(message: str) -> ConfigError:
    return ConfigError(Finding("no-token", message, "it prints the token alone, such as `cat token.jwt`"))
