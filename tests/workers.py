"""Which tests stay together when several processes run them, and which come first.

A process runs a group from its first test to its last, then takes the next one. What a group shares is what costs:
brokers, a Spark cluster, compiled programs. So a folder whose `conftest.py` opens a world for all of its files is one
group, and any other file is one of its own. The longest come first: one that comes last runs alone while the other
processes have nothing left to do. From the third process on, the shortest come first: they wait more than they compute,
so they cost the worlds of the first two processes little.

A fixture of scope `session` lives once in each process, and until its end: a world for one folder has scope `package`
and an `__init__.py` beside it, so that its idle brokers do not slow what comes after.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

SECONDS: Mapping[str, int] = {
    "tests/cli/test_other_user.py": 25,
    "tests/cli/test_other_user_ships.py": 30,
    "tests/integration/bundle/test_install.py": 30,
    "tests/integration/discover": 45,
    "tests/integration/doctor": 210,
    "tests/integration/exec/test_kafka_tools.py": 20,
    "tests/integration/exec/test_python.py": 30,
    "tests/integration/exec/test_spark.py": 65,
    "tests/integration/exec/test_unusable_map.py": 30,
    "tests/integration/install/test_release.py": 40,
    "tests/integration/install/test_sdist.py": 10,
    "tests/integration/install/test_wheel.py": 80,
    "tests/integration/librdkafka": 190,
    "tests/integration/pipelines/test_full_cluster.py": 40,
    "tests/integration/pipelines/test_kill.py": 90,
    "tests/integration/pipelines/test_realtime.py": 85,
    "tests/integration/pipelines/test_references.py": 45,
    "tests/integration/pipelines/test_replay.py": 55,
    "tests/integration/pipelines/test_rights.py": 20,
    "tests/integration/pipelines/test_run.py": 95,
    "tests/integration/pipelines/test_secrets.py": 105,
    "tests/integration/pipelines/test_stop.py": 55,
    "tests/integration/proxy/test_moving.py": 60,
    "tests/integration/python_clients": 150,
    "tests/integration/reconcile": 55,
    "tests/integration/render/test_spark.py": 20,
    "tests/integration/shipping/test_kills.py": 60,
    "tests/integration/spark/test_doctor.py": 40,
    "tests/integration/spark/test_example.py": 25,
    "tests/integration/spark/test_local.py": 115,
    "tests/integration/spark/test_standalone.py": 145,
    "tests/integration/spark/test_versions.py": 60,
    "tests/integration/spring/test_service.py": 70,
    "tests/integration/steps": 380,
    "tests/integration/test_readme.py": 55,
    "tests/integration/testbed/test_lifetime.py": 15,
    "tests/integration/testbed/test_variants.py": 15,
    "tests/leaks/test_clients.py": 60,
    "tests/matrix": 315,
    "tests/netns": 320,
    "tests/netns/doctor_worlds": 185,
    "tests/netns/situation2": 115,
    "tests/netns/spark": 300,
    "tests/netns/test_bundle.py": 85,
    "tests/netns/test_doctor_page.py": 55,
    "tests/netns/test_render_ipv6.py": 5,
    "tests/netns/test_render_nat.py": 10,
    "tests/netns/test_tunnel.py": 135,
    "tests/property/test_doctor.py": 30,
    "tests/property/test_python_equals_c.py": 15,
    "tests/unit/doctor/explain/test_matching.py": 15,
    "tests/unit/shipping/test_handler.py": 50,
}
"""Folders that stay together and files that take long: seconds with two processes on two cores, roughly. The progress
of a run tells them."""


class Groups(LoadScopeScheduling):
    """Gives groups to processes in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        # Else those with the most tests come first.
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        bring_forward(self.workqueue, self.nodes.index(node))
        super()._assign_work_unit(node)


def bring_forward(waiting: OrderedDict[str, Any], process: int) -> None:
    """Put the group first that this process, counted from 0, runs next."""
    if process >= _WITH_WORLDS:
        waiting.move_to_end(next(reversed(waiting)), last=False)


def group_of(nodeid: str) -> str:
    """The group of a test: the innermost folder or file of `SECONDS` that it is in, else its file."""
    file = nodeid.partition("::")[0]
    known = [group for group in SECONDS if file == group or file.startswith(f"{group}/")]
    return max(known, key=len, default=file)


def longest_first(items: list[pytest.Item]) -> None:
    """Put the tests into the order in which their groups are to be begun.

    Those of integration come in one run, because the world that most of them share ends with them.
    """

    def place(item: pytest.Item) -> tuple[bool, int]:
        group = group_of(item.nodeid)
        seconds = SECONDS.get(group, 0)
        return seconds < _VERY_LONG and not group.startswith(_SHARING), -seconds

    items.sort(key=place)


_WITH_WORLDS = 2
"""The processes that begin with the longest groups; their brokers and Sparks fill two cores."""
_VERY_LONG = 200
"""Seconds of groups that must not be among the last ones, wherever they are."""
_SHARING = "tests/integration/"
