"""Renders what listens for clients and connects to the brokers, one port for each broker: nginx `stream`, HAProxy
`mode tcp`, one `ssh -L` for all, one `kubectl port-forward` per broker.

The inverted address map gives the forwards: the gateway listens at the reachable endpoint and connects to the
advertised one. A rule without ports gets the ports of the bootstrap servers that it matches; without a bootstrap server
it is refused, because its port is unknown. Each broker needs its own port: the gateway forwards bytes and does not know
which node a client needs.

nginx: the text is a `stream` block for the top level of nginx.conf (nginx refuses it inside `http`).

HAProxy: all settings are in `listen` sections and none in `defaults`, because a `defaults` section would also apply to
files that HAProxy loads later. `retries 0`: by default HAProxy would retry the same broker three times, 8 s each, but
the client gives up after 10 s and has other brokers.

`brokernat tunnel` runs ssh and kubectl itself, and prints a map whose reachable side is this machine.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace

from brokernat.address import AddressMap, CidrRule, Endpoint, HostPortRule, HostRule, Rule
from brokernat.address.endpoint import as_ip
from brokernat.config.model import KubectlSection
from brokernat.errors import ConfigError, Finding
from brokernat.render.expressible import Means, refuse, require_expressible
from brokernat.render.header import Header, Subject, identifier, map_lines


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward from `listen` to `upstream`."""

    listen: Endpoint
    upstream: Endpoint


def forwards(address_map: AddressMap, bootstrap_servers: Iterable[Endpoint]) -> tuple[Forward, ...]:
    """A forward for each broker, in the order of the rules; two names of one broker become one forward, to the first.

    Raises:
        NotExpressibleError: a rule names no broker, or its port is unknown.
    """
    require_expressible(address_map, Means.GATEWAY)
    bootstrap = tuple(bootstrap_servers)
    brokers = {rule: tuple(_advertised(rule, bootstrap)) for rule in address_map.rules}
    because = "it keeps the port, and no bootstrap server matches it: add one, or `:PORT` on both sides"
    refuse(address_map, Means.GATEWAY, ((rule, because) for rule, advertised in brokers.items() if not advertised))
    found: dict[Endpoint, Forward] = {}
    for rule, advertised in brokers.items():
        for upstream in advertised:
            listen = rule.translate(upstream)
            # Skip endpoints that an earlier rule matches, and unchanged ones, because the gateway would dial itself.
            if address_map.find(upstream) == rule and listen != upstream:
                found.setdefault(listen, Forward(listen, upstream))
    return tuple(found.values())


def _advertised(rule: Rule, bootstrap: tuple[Endpoint, ...]) -> Iterable[Endpoint]:
    """The advertised endpoints that a rule matches."""
    match rule:
        case HostPortRule():
            return [rule.advertised]
        case HostRule():
            return [Endpoint(rule.advertised, dialled.port) for dialled in bootstrap if dialled.host == rule.reachable]
        case CidrRule():
            inverted = CidrRule(rule.reachable, rule.advertised)
            return [inverted.translate(dialled) for dialled in bootstrap if inverted.pattern.matches(dialled)]
        case _:
            raise AssertionError(f"{rule} is refused before")


CAN = ("Carry any protocol of Kafka: login and TLS stay between client and broker.",)
CANNOT = (
    "Change what brokers advertise: clients still dial the advertised endpoints, so each client needs the map as well.",
    "Follow the cluster: a broker added later needs one more port here and one more rule in the map.",
)
_NAMES = (
    "Start while a broker's name does not resolve, or follow a changed address: names are resolved when the file is "
    "loaded, so reload it then."
)


def gateway_header(header: Header, subject: Subject, forwards: Iterable[Forward]) -> str:
    """The header of a gateway's file, with the limits of gateways and the map that its clients need."""
    named = any(as_ip(forward.upstream.host) is None for forward in forwards)
    limits = (*CANNOT, *([_NAMES] if named else []), *header.cannot)
    return replace(header, can=(*CAN, *header.can), cannot=limits).text(subject, client_lines(subject))


def client_lines(subject: Subject) -> tuple[str, ...]:
    """The settings for clients behind the gateway, for the end of a header."""
    return ("For each client, with brokernat's agent or plug-in:", *(f"  {line}" for line in map_lines(subject)))


_NGINX_HEADER = Header(
    title="Kafka through nginx: one port of this host for each broker",
    can=(),
    cannot=("Be included in `http`: nginx accepts one `stream` block, at the top level of nginx.conf.",),
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
        NotExpressibleError: a rule names no broker, or its port is unknown.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    return f"{gateway_header(_NGINX_HEADER, subject, found)}\n{nginx_stream(found)}"


def nginx_stream(forwards: Iterable[Forward]) -> str:
    """The `stream` block.

    The connect timeout is 8 s, less than that of Kafka's clients (`socket.connection.setup.timeout.ms`, 10 s): they see
    a closed connection and try the next broker. The idle timeout is 24 h, so that Kafka closes idle connections first
    (`connections.max.idle.ms`, 9 or 10 minutes); nginx's default of 10 minutes would race with that. TCP keep-alive
    detects a crashed broker earlier.
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


_HAPROXY_HEADER = Header(
    title="Kafka through HAProxy: one port of this host for each broker",
    can=(),
    cannot=("Share a port between brokers: HAProxy forwards bytes and cannot know which broker a client needs.",),
    check=("haproxy -c -f /etc/haproxy/haproxy.cfg -f FILE",),
    apply=(
        'EXTRAOPTS="-S /run/haproxy-master.sock -f FILE"      in /etc/default/haproxy (Debian, Ubuntu)',
        "systemctl restart haproxy                            later changes: reload, open connections stay",
    ),
)


def haproxy(subject: Subject) -> str:
    """The file for a cluster.

    Raises:
        NotExpressibleError: a rule names no broker, or its port is unknown.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    return f"{gateway_header(_HAPROXY_HEADER, subject, found)}\n{_sections(identifier(subject.cluster), found)}"


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


_OWN = (
    "Listen at an address of another host: the reachable endpoints of the map must be this host's own addresses, or "
    "127.0.0.1 for programs on this host."
)
_SSH = Header(
    title="Kafka through an SSH host: one port of this host for each broker",
    can=CAN,
    cannot=(
        *CANNOT,
        _OWN,
        "Reconnect: `brokernat tunnel --ssh` does.",
    ),
    check=("ssh -G DESTINATION      with your own destination: what your configuration adds",),
    apply=("sh FILE                 it runs until Ctrl-C; ssh prompts as usual",),
)
_KUBECTL = Header(
    title="Kafka in Kubernetes: one port of this host for each broker's pod",
    can=CAN,
    cannot=(
        *CANNOT,
        _OWN,
        "Reconnect, for example after a pod is replaced: `brokernat tunnel --kubectl` does.",
    ),
    check=("kubectl get pods        the pods below must be there",),
    apply=("sh FILE                 it runs until Ctrl-C",),
)
_HINT_PODS = (
    "`kubectl port-forward` serves listeners that advertise the pods' own names, such as "
    "`my-cluster-kafka-0.my-cluster-kafka-brokers.kafka.svc`: take the bootstrap server of that listener"
)


def ssh(subject: Subject, destination: str = "user@bastion") -> str:
    """A shell script for a cluster; `destination` are the words after `ssh`.

    Raises:
        NotExpressibleError: a rule names no broker, or its port is unknown.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    lines = [
        "ssh -N -o ExitOnForwardFailure=yes",
        *(f"  -L {forward.listen}:{forward.upstream}" for forward in found),
        f"  {destination}",
    ]
    return f"{_SSH.text(subject, client_lines(subject))}\n" + " \\\n".join(lines) + "\n"


def kubectl(subject: Subject, section: KubectlSection | None = None) -> str:
    """A shell script for a cluster.

    Raises:
        NotExpressibleError: a rule names no broker, or its port is unknown.
        ConfigError: code `no-pod`: an advertised host is not the name of a pod or a service.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    lines = [
        shlex.join(port_forward_words(forward.upstream, forward.listen, section or KubectlSection())) + " &"
        for forward in found
    ]
    return "\n".join((_KUBECTL.text(subject, client_lines(subject)), _STOP, *lines, "wait")) + "\n"


# Without the inner trap the signal to the whole group would be caught again, without an end.
_STOP = "trap 'trap - INT TERM; kill 0' INT TERM"


def port_forward_words(target: Endpoint, local: Endpoint, section: KubectlSection) -> list[str]:
    """`kubectl port-forward` to the pod or the service of a host name.

    A broker in Kubernetes advertises `POD.SERVICE.NAMESPACE.svc[.cluster.local]`; a bootstrap server is a service,
    `SERVICE`, `SERVICE.NAMESPACE` or `SERVICE.NAMESPACE.svc[.cluster.local]`.

    Raises:
        ConfigError: code `no-pod`: the host is neither a pod nor a service.
    """
    labels = target.host.split(".")
    # After `svc` comes the cluster's domain.
    named = labels[: labels.index("svc")] if "svc" in labels else labels
    namespace = section.namespace
    match named:
        case [pod, _, namespace] if "svc" in labels:
            resource = f"pod/{pod}"
        case [service, namespace]:
            resource = f"service/{service}"
        case [service] if "svc" not in labels:
            resource = f"service/{service}"
        case _:
            message = f"{target} is not the name of a Kubernetes pod or service"
            raise ConfigError(Finding("no-pod", message, _HINT_PODS))
    options = {"--context": section.context, "--namespace": namespace}
    where = [word for name, value in options.items() if value is not None for word in (name, value)]
    return ["kubectl", *where, "port-forward", "--address", local.host, resource, f"{local.port}:{target.port}"]
