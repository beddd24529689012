"""The proof before a test: what is advertised is dead from the client's place, what the map leads to answers there.

Without it a test of a map can pass because nothing was in the way.
"""

from __future__ import annotations

import socket
import ssl
from functools import partial

from brokernat.address import Endpoint
from brokernat.errors import WorldError
from brokernat.testbed.kafka.connection import Connection
from brokernat.testbed.place import Place
from brokernat.testbed.polling import wait_until
from brokernat.testbed.topology import WorldPlan

_DEAD_TIMEOUT = 1.0
_ALIVE_TIMEOUT = 180.0


def prove(plan: WorldPlan, client: Place) -> None:
    """Hold the plan against the network.

    Raises:
        WorldError: an advertised endpoint answers.
        NothingReachableError: a reachable one does not.
    """
    for endpoint in plan.dead():
        if connects(endpoint, client):
            raise WorldError(
                f"{endpoint} is advertised by a broker that hides, and it answers",
                hint="does a server of this machine listen on 0.0.0.0 or on [::]?",
            )
    for cluster in plan.clusters:
        for endpoint in cluster.bootstrap:
            answers = partial(speaks_kafka, endpoint, client, tls=cluster.options.protocol.tls)
            wait_until(answers, f"{cluster.name} at {endpoint}", timeout=_ALIVE_TIMEOUT)


def connects(endpoint: Endpoint, place: Place) -> bool:
    """Whether anything accepts a connection there."""
    try:
        place.dial(endpoint, timeout=_DEAD_TIMEOUT).close()
    except OSError:
        return False
    return True


def speaks_kafka(endpoint: Endpoint, place: Place, *, tls: bool) -> bool:
    """Whether a broker answers ApiVersions there, which it does before any login; its certificate is not looked at."""
    try:
        with Connection(_wrapped(place.dial(endpoint), tls=tls)) as connection:
            connection.api_versions()
    except OSError:
        return False
    return True


def _wrapped(plain: socket.socket, *, tls: bool) -> socket.socket:
    if not tls:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        return context.wrap_socket(plain)
    except OSError:
        plain.close()
        raise
