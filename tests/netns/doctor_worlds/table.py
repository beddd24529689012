"""The table of worlds: each function of these modules is a class, and draws nodes, ports and counts from the dice that
it is given, so that a number names a variant."""

from tests.netns.doctor_worlds import harmless, listeners, names_and_maps, network, search, several_causes, sizes
from tests.netns.doctor_worlds.kinds import KINDS, Kind, World, changed

__all__ = [
    "KINDS",
    "Kind",
    "World",
    "changed",
    "harmless",
    "listeners",
    "names_and_maps",
    "network",
    "search",
    "several_causes",
    "sizes",
]
