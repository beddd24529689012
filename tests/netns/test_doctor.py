"""The doctor where clients stand in situation 1: no route to what is advertised, a login, real nginx, black holes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.support.faults import Faults

from brokernat.testbed import NetnsWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = pytest.mark.netns

ENDS_WITHIN = 120
NOTHING_REACHABLE, FINDINGS = 3, 5


@pytest.fixture
def doctor(nginx_world: NetnsWorld, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in the client's place, with a map or without."""
    text = config_text([nginx_world.hq])
    mapped, bare = tmp_path / "mapped.yaml", tmp_path / "bare.yaml"
    mapped.write_text(text)
    start, end = text.index("    address_map:"), text.index("    client:")
    bare.write_text(text[:start] + text[end:])

    def run(*arguments: str, with_map: bool = True) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "brokernat", "doctor", "--config", str(mapped if with_map else bare)]
        done = subprocess.run(
            nginx_world.client.command([*words, *arguments]), cwd=tmp_path, capture_output=True, text=True,
            timeout=ENDS_WITHIN, check=False,
        )  # fmt: skip
        assert nginx_world.hq.plan.options.password not in done.stdout + done.stderr
        return done

    return run


def codes(done: subprocess.CompletedProcess[str]) -> set[tuple[str, str]]:
    said: dict[str, Any] = json.loads(done.stdout)
    return {(each["code"], each["subject"]) for each in said["findings"] if each["severity"] != "info"}


def test_situation_one_is_named_and_healed_by_what_is_printed(
    doctor: Callable[..., subprocess.CompletedProcess[str]], nginx_world: NetnsWorld, snapshot: SnapshotAssertion
) -> None:
    done = doctor(with_map=False)
    assert done.returncode == FINDINGS, done.stderr
    assert done.stdout.partition("\n\nskipped\n")[0] == snapshot
    for node in nginx_world.hq.nodes:
        assert f"\n  {nginx_world.hq.advertised[node]} = {nginx_world.hq.reachable[node]}\n" in done.stdout
    healed = doctor("--fail-on", "warning")
    assert healed.returncode == 0, healed.stdout


def test_a_black_hole_costs_what_the_timeout_says_and_is_told_from_a_refusal(
    doctor: Callable[..., subprocess.CompletedProcess[str]], nginx_world: NetnsWorld
) -> None:
    hole = nginx_world.hq.reachable[2]
    advertised = nginx_world.hq.advertised[2]
    wanted = {("BN103", f"bootstrap {hole}"), ("BN305", f"node 2 at {advertised}")}
    # Where packets vanish and the neighbours on the same host answer.
    firewall = {("BN308", f"node 2 at {advertised}")}
    with Faults(nginx_world.client).dropped(hole):
        swallowed = doctor("--timeout", "8", "--format", "json")
        assert Faults(nginx_world.client).packets() > 0
    with Faults(nginx_world.client).refused(hole):
        refused = doctor("--format", "json")
    assert (swallowed.returncode, codes(swallowed)) == (FINDINGS, wanted | firewall)
    assert (refused.returncode, codes(refused)) == (FINDINGS, wanted)
    assert "did not answer" in swallowed.stdout
    assert "refused the connection" in refused.stdout


def test_a_gateway_that_is_gone(
    doctor: Callable[..., subprocess.CompletedProcess[str]], nginx_world: NetnsWorld
) -> None:
    nginx_world.gateway.stop()
    try:
        done = doctor("--format", "json")
    finally:
        nginx_world.gateway.start()
    assert done.returncode == NOTHING_REACHABLE
    assert codes(done) == {("BN103", f"bootstrap {end}") for end in nginx_world.hq.reachable.values()}
    assert doctor().returncode == 0
