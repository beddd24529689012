"""Who coordinates, and a node that is missing, for users of few rights and of none: each is told what can be known."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from tests.integration.doctor.bearer import bearer
from tests.integration.doctor.groups import administrator, ask_as_clients_do, make_group
from tests.integration.doctor.looking import TIMEOUT, looked_at, problems
from tests.integration.doctor.scene import Scene
from tests.support.cluster_admin import Allow, Operation, Resource, allow

from brokernat.address import AddressMap
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import Coordinator, Evidence
from brokernat.doctor.finding import Severity
from brokernat.testbed import RunningCluster
from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

KINDS = pytest.mark.parametrize(
    ("kind", "resource", "right", "code"),
    [
        ("group", Resource.GROUP, Operation.READ, "BN701"),
        ("transaction", Resource.TRANSACTIONAL_ID, Operation.WRITE, "BN702"),
    ],
    ids=["group", "transaction"],
)


def asked(cluster: Cluster, wanted: Coordinator) -> Evidence:
    if wanted.kind == "group":
        return looked_at(cluster, groups=(wanted.key,))
    return looked_at(cluster, transactional_ids=(wanted.key,))


def group_at(cluster: RunningCluster, node: int, prefix: str) -> str:
    """A name whose coordinator this node is."""
    return next(
        name
        for name in (f"{prefix}-{number}" for number in count())
        if ask_as_clients_do(cluster, Coordinator("group", name)) == node
    )


def with_rule_for(cluster: RunningCluster, node: int) -> Cluster:
    """A map that lacks the other node."""
    return replace(
        cluster.cluster, address_map=AddressMap.parse(f"{cluster.advertised[node]}={cluster.reachable[node]}")
    )


def test_nobody_is_asked_where_that_would_create_a_topic(doctor_scene: Scene) -> None:
    hq = doctor_scene.hq
    seen = looked_at(hq.cluster, groups=("app",), transactional_ids=("app",))
    assert {each.error for each in seen.coordinators} == {"not-asked"}
    reasons = {each.code: each.reason for each in diagnose(seen).skipped}
    assert reasons["BN701"].startswith("this user sees no `__consumer_offsets`")
    assert reasons["BN702"].startswith("this user sees no `__transaction_state`")
    assert not any(name.startswith("__") for name in administrator(hq).list_topics(timeout=TIMEOUT).topics)


@KINDS
def test_a_right_to_the_group_or_id_alone_is_enough(
    strict: RunningCluster, kind: Any, resource: Resource, right: Operation, code: str
) -> None:
    """The user never sees the topic behind it. Who may only look up the coordinator cannot join or write."""
    wanted = Coordinator(kind, f"auditors-of-{kind}")
    node = ask_as_clients_do(strict, wanted)
    forbidden = diagnose(asked(strict.cluster, wanted))
    assert {each.code for each in forbidden.findings} == {"BN003", "BN304"}

    allow(strict, Allow(Operation.DESCRIBE, resource, wanted.key))
    found = asked(strict.cluster, wanted)
    assert problems(found) == {"BN003"}
    assert [each.broker and each.broker.node_id for each in found.coordinators] == [node]

    allow(strict, Allow(right, resource, wanted.key))
    found = asked(strict.cluster, wanted)
    assert problems(found) == set()
    assert code in diagnose(found).passed


def test_any_group_of_the_user_shows_that_the_unreached_coordinator_may_be_asked_for(strict: RunningCluster) -> None:
    here, there = group_at(strict, 1, "reached"), group_at(strict, 2, "unreached")
    allow(strict, *(Allow(Operation.READ, Resource.GROUP, name) for name in (here, there)))
    barred = with_rule_for(strict, 1)
    make_group(strict, here)
    missing = diagnose(looked_at(barred, groups=(there,)))
    assert {each.code for each in missing.findings if each.severity is Severity.ERROR} == {"BN605", "BN701"}
    assert missing.cause is not None
    assert missing.cause.code == "BN605"
    assert problems(looked_at(strict.cluster, groups=(there,))) == set()


def test_the_coordinator_of_an_id_is_a_node_to_reach(strict: RunningCluster) -> None:
    wanted = Coordinator("transaction", "payments")
    node = ask_as_clients_do(strict, wanted)
    allow(strict, Allow(Operation.WRITE, Resource.TRANSACTIONAL_ID, wanted.key))
    allow(strict, Allow(Operation.DESCRIBE, name=wanted.topic))
    missing = diagnose(asked(with_rule_for(strict, 3 - node), wanted))
    assert {each.code for each in missing.findings if each.severity is Severity.ERROR} == {"BN605", "BN702"}
    assert problems(asked(strict.cluster, wanted)) == set()


def test_a_coordinator_that_lacks_the_listener_is_none(strict: RunningCluster) -> None:
    """Everybody may do everything on this listener, which node 2 lacks; on the other one both are."""
    group = group_at(strict, 2, "far")
    found = diagnose(looked_at(strict.through("PART"), groups=(group,)))
    errors = {each.code: each for each in found.findings if each.severity is Severity.ERROR}
    assert errors.keys() == {"BN503", "BN504", "BN703"}
    assert "LISTENER_NOT_FOUND" in errors["BN504"].message
    assert errors["BN703"].subject == f"group {group}"
    assert found.cause is not None
    assert found.cause.code == "BN503"
    assert problems(looked_at(strict.direct, groups=(group,))) == set()


def test_a_user_without_any_right_meets_the_missing_node_as_controller(strict: RunningCluster) -> None:
    """Which live broker is named is chance, so it is looked at until it is the one that is not listed."""
    guest, by_token = f"echo {bearer(3600, 'guest')}", {"sasl.mechanism": "OAUTHBEARER"}

    def named() -> set[tuple[str, str, Severity]]:
        one = strict.through("ONE")
        seen = looked_at(replace(one, client={**one.client, **by_token}), token_command=guest)
        return {(each.code, each.subject, each.severity) for each in diagnose(seen).findings}

    wait_until(
        lambda: ("BN506", "node 2", Severity.WARNING) in named(), "the controller that is missing", timeout=TIMEOUT
    )
    both = replace(strict.cluster, client={**strict.cluster.client, **by_token})
    assert "BN506" not in problems(looked_at(both, token_command=guest))
