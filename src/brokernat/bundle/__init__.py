"""Everything that a network without registries needs, in one folder: collect it here, verify and install it there."""

from brokernat.bundle.contents import Collected, Installed, collect, install
from brokernat.bundle.manifest import verify

__all__ = ["Collected", "Installed", "collect", "install", "verify"]
