"""Bundles for networks without registries: collect all files in a folder, then verify and install them there."""

from brokernat.bundle.contents import Collected, Installed, collect, install
from brokernat.bundle.manifest import verify

__all__ = ["Collected", "Installed", "collect", "install", "verify"]
