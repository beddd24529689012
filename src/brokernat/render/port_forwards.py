"""Commands that open the forwards of a map by hand: one `ssh -L` for all, one `kubectl port-forward` a broker.

They listen where the rules lead and dial what the brokers advertise, so the map has the local ports: for a map whose
reachable side is this machine, `brokernat tunnel` prints one.
"""

from __future__ import annotations

import shlex

from brokernat.address import Endpoint
from brokernat.config.model import KubectlSection
from brokernat.errors import ConfigError, Finding
from brokernat.render.gateways import CAN, CANNOT, client_lines, forwards
from brokernat.render.header import Header, Subject

_SSH = Header(
    title="Kafka through an SSH host: one port of this host for each broker",
    can=CAN,
    cannot=(
        *CANNOT,
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
    """A shell script for a cluster; `destination` is what stands behind `ssh`.

    Raises:
        NotExpressibleError: a rule names no broker, or a port that nobody knows.
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
        NotExpressibleError: a rule names no broker, or a port that nobody knows.
        ConfigError: code `no-pod`, an advertised host is no pod by its name.
    """
    found = forwards(subject.address_map, subject.bootstrap_servers)
    lines = [
        shlex.join(port_forward_words(each.upstream, each.listen, section or KubectlSection())) + " &" for each in found
    ]
    return "\n".join((_KUBECTL.text(subject, client_lines(subject)), "trap 'kill 0' INT TERM", *lines, "wait")) + "\n"


def port_forward_words(target: Endpoint, local: Endpoint, section: KubectlSection) -> list[str]:
    """`kubectl port-forward` to the pod or the service that a host name means.

    A broker in Kubernetes advertises `POD.SERVICE.NAMESPACE.svc[.cluster.local]`; a bootstrap server is a service,
    `SERVICE`, `SERVICE.NAMESPACE` or `SERVICE.NAMESPACE.svc[.cluster.local]`.

    Raises:
        ConfigError: code `no-pod`, the host is neither.
    """
    labels = target.host.split(".")
    # What stands behind `svc` is the cluster's own domain.
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
