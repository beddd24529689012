"""HAProxy in `mode tcp` for a host that stands in both networks: one `listen` section for each broker.

Every setting stands in its own section and none in `defaults`: the file is loaded beside the host's haproxy.cfg, and a
`defaults` section would hold for whatever is read after it. `retries 0` because HAProxy would try the same broker three
times more, 8 s each, while the client has others to go to and gives up after 10 s.
"""

from __future__ import annotations

from collections.abc import Iterable

from brokernat.render.forwards import Forward, forwards
from brokernat.render.gateway import gateway_header
from brokernat.render.header import Header
from brokernat.render.naming import identifier
from brokernat.render.subject import Subject

_HEADER = Header(
    title="Kafka through HAProxy: one port of this host for each broker",
    can=(),
    cannot=("Share a port between brokers: HAProxy sees bytes and cannot tell which broker a client means.",),
    check=("haproxy -c -f /etc/haproxy/haproxy.cfg -f FILE",),
    apply=(
        'EXTRAOPTS="-S /run/haproxy-master.sock -f FILE"      in /etc/default/haproxy (Debian, Ubuntu)',
        "systemctl restart haproxy                            later changes: reload, open connections stay",
    ),
)


def haproxy(subject: Subject) -> str:
    """The file for a cluster.

    Raises:
        NotExpressibleError: a rule names no broker, or a port that nobody knows.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    return f"{gateway_header(_HEADER, subject, found)}\n{_sections(identifier(subject.cluster), found)}"


def _sections(name: str, forwards: Iterable[Forward]) -> str:
    return "\n".join(
        f"""\
listen {name}_{number}
    bind {forward.listen}
    mode tcp
    option tcplog
    option tcpka
    timeout connect 8s
    timeout client 24h
    timeout server 24h
    retries 0
    server broker {forward.upstream}
"""
        for number, forward in enumerate(forwards, start=1)
    )
