"""What an import that needs an extra says where the extra is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from brokernat.errors import MissingToolError


@contextmanager
def needing_kio(who: str) -> Iterator[None]:
    """Around imports of the doctor's probes; `who` begins the message. Another missing module stays a bug."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("kio"):
            raise
        raise MissingToolError(f"{who} needs kio", hint="pip install 'brokernat[doctor]'") from None
