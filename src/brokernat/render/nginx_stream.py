"""nginx `stream` for a host that stands in both networks: one listening port for each broker.

One port cannot serve several brokers: nginx sees bytes, and a client that means node 2 must not land on node 1. What
comes out is a whole `stream` block, to be included at the top level of nginx.conf (inside `http` nginx refuses it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brokernat.address import Endpoint

_HEADER = """\
# Kafka through a host in both networks: one port here for each broker there.
# Include this at the top level of nginx.conf, beside `http`, not in it. nginx needs its stream module
# (Debian and Ubuntu: libnginx-mod-stream).
#
# It carries any protocol of Kafka: login and TLS stay between client and broker. It does not change what
# brokers advertise: clients must translate `advertised` to the port here, which is what an address map does.
# Clients reach it with their own list, one entry for each `server` below; a broker added later needs one more.
"""


@dataclass(frozen=True, slots=True)
class Forward:
    """What is accepted at `listen` goes to `upstream`."""

    listen: Endpoint
    upstream: Endpoint


def nginx_stream(forwards: Iterable[Forward]) -> str:
    """The `stream` block.

    A connect is given up after 8 s, before Kafka's clients do (`socket.connection.setup.timeout.ms`, 10 s): they see
    a closed connection and take the next broker. An idle connection lives 24 h: Kafka's own end of it comes first
    (`connections.max.idle.ms`, 9 or 10 minutes), while nginx's default of 10 minutes would race with that.
    """
    servers = "".join(
        f"""
    server {{
        listen {forward.listen};
        proxy_pass {forward.upstream};
    }}
"""
        for forward in forwards
    )
    return f"""{_HEADER}
stream {{
    proxy_connect_timeout 8s;
    proxy_timeout 24h;
    proxy_socket_keepalive on;
    tcp_nodelay on;
{servers}}}
"""
