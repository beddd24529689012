"""nginx `stream` for a host that stands in both networks: one listening port for each broker.

One port cannot serve several brokers: nginx sees bytes, and a client that means node 2 must not land on node 1. What
comes out is a whole `stream` block, to be included at the top level of nginx.conf (inside `http` nginx refuses it).
"""

from __future__ import annotations

from collections.abc import Iterable

from brokernat.render.forwards import Forward, forwards
from brokernat.render.gateway import gateway_header
from brokernat.render.header import Header
from brokernat.render.subject import Subject

_HEADER = Header(
    title="Kafka through nginx: one port of this host for each broker",
    can=(),
    cannot=("Stand in `http`: nginx takes one `stream` block, at the top level of nginx.conf.",),
    check=("nginx -t",),
    apply=(
        "apt-get install nginx libnginx-mod-stream      (Debian, Ubuntu)",
        "include /etc/nginx/FILE;                       in nginx.conf, beside `http`",
        "nginx -s reload                                connections that are open stay",
    ),
)


def nginx(subject: Subject) -> str:
    """The file for a cluster.

    Raises:
        NotExpressibleError: a rule names no broker, or a port that nobody knows.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    return f"{gateway_header(_HEADER, subject, found)}\n{nginx_stream(found)}"


def nginx_stream(forwards: Iterable[Forward]) -> str:
    """The `stream` block.

    A connect is given up after 8 s, before Kafka's clients do (`socket.connection.setup.timeout.ms`, 10 s): they see
    a closed connection and take the next broker. An idle connection lives 24 h: Kafka's own end of it comes first
    (`connections.max.idle.ms`, 9 or 10 minutes), while nginx's default of 10 minutes would race with that. Keep-alive
    finds the broker that went without a word, for which 24 h would be long.
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
    return f"""\
stream {{
    proxy_connect_timeout 8s;
    proxy_timeout 24h;
    proxy_socket_keepalive on;
{servers}}}
"""
