"""The Spring Boot service on the addresses that its example names, through nginx, with the old and a current client."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.integration.spring.service import (
    EXAMPLE,
    IMPATIENT,
    Service,
    audited,
    build,
    new_users,
    not_sent,
    render,
    translated,
)
from tests.support.faults import Faults

from brokernat.testbed import NetnsWorld

pytestmark = pytest.mark.netns

KAFKA_CLIENTS = {"boot-2": "3.0.2", "boot-4": "4.2.1"}


# The old client through a gateway is tested without namespaces.
@pytest.fixture(scope="module", params=[pytest.param("boot-2", marks=pytest.mark.soak), "boot-4"])
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def service(profile: str, nginx_world: NetnsWorld, tmp_path_factory: pytest.TempPathFactory) -> Service:
    folder = tmp_path_factory.mktemp(profile)
    options = nginx_world.hq.plan.options
    credentials = {"HQ_USER": options.username, "HQ_PASSWORD": options.password}
    shutil.copy(EXAMPLE / "brokernat.yaml", folder)
    render(folder, credentials)
    nginx_world.hq.create_topic("audit")
    return Service(build(profile, folder), folder, credentials, nginx_world.client)


# The old client's failure is tested without namespaces: it takes Spring half a minute to close its producer.
@pytest.mark.parametrize("profile", ["boot-4"], indirect=True)
def test_through_nginx_alone_no_event_arrives(nginx_world: NetnsWorld, profile: str, service: Service) -> None:
    users = new_users()
    with refusing(nginx_world, node=2):
        log = service.audit(users, *IMPATIENT, agent=False)

    assert f"Kafka version: {KAFKA_CLIENTS[profile]}" in log
    line = r"Connection to node 2 \(\S*/192\.168\.1\.24:9092\) could not be established"
    assert re.search(line, log), log[-6000:]
    assert not_sent(log) == users
    assert audited(nginx_world.hq, users) == []


def test_through_nginx_with_the_agent_every_event_arrives(nginx_world: NetnsWorld, service: Service) -> None:
    users = new_users()
    log = service.audit(users, agent=True)

    assert audited(nginx_world.hq, users) == users
    assert not_sent(log) == []
    assert translated(log) <= {str(endpoint) for endpoint in nginx_world.hq.advertised.values()}
    assert translated(log)


@contextmanager
def refusing(world: NetnsWorld, *, node: int) -> Iterator[None]:
    """A route towards one broker at whose end nobody listens: without one there would be no connection to refuse."""
    dead = world.hq.advertised[node]
    route = (f"{dead.host}/32", "via", world.hq.reachable[node].host)
    world.client.run("ip", "route", "add", *route)
    try:
        with Faults(world.client).refused(dead):
            yield
    finally:
        world.client.run("ip", "route", "del", *route)
