"""Renders commands for the forwards of a map: one `ssh -L` for all, or one `kubectl port-forward` per broker.

They listen at the reachable endpoints of the rules and dial the advertised ones. `brokernat tunnel` prints a map whose
reachable side is this machine.
"""

from __future__ import annotations

import shlex

from brokernat.address import Endpoint
from brokernat.config.model import KubectlSection
from brokernat.errors import ConfigError, Finding
from brokernat.render.gateways import CAN, CANNOT, client_lines, forwards
from brokernat.render.header import Header, Subject

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
