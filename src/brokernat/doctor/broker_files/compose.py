"""Brokers in a Docker compose file: the environment variables that their images turn into settings, and the bootstrap
servers of the other services; pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from brokernat.address.endpoint import is_wildcard
from brokernat.doctor.broker_files.listeners import setting_like
from brokernat.doctor.broker_files.services import (
    RESOLVE,
    Beside,
    Service,
    interpolated,
    merged,
    services_of,
    texts,
    undefined,
    variables_of,
)
from brokernat.doctor.evidence import BrokerFile, ComposeClient, Way
from brokernat.doctor.host_kinds import is_loopback
from brokernat.errors import ConfigError, Finding, Location, read_all
from brokernat.text import listed

_RUNS = {1: ".", 2: "_", 3: "-"}
_MOST_PORTS = 1000
_PORT = re.compile(r"(?:(.*):)?(\d{1,5})(?:-(\d{1,5}))?:(\d{1,5})(?:-(\d{1,5}))?(?:/tcp)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)
_WITHOUT_CFG = re.compile(r"(?:^|/)(?:apache/kafka|confluentinc/)")
_FAMILY = re.compile(
    r"(?:^|/)(?:(?P<apache>apache/kafka(?:-native)?)|(?P<confluent>confluentinc/cp-(?:enterprise-)?(?:kafka|server))|"
    r"(?P<bitnami>bitnami(?:legacy)?/kafka)|(?P<wurstmeister>wurstmeister/kafka))(?:[:@]|$)"
)
_A_SETTING = re.compile(r"KAFKA_(?!(?:\w+_)?(?:OPTS|LOGLEVEL|LOGGERS|VERSION|HOSTNAME)$)")
# The default file of Apache's image.
_DEFAULTS = (
    ("process.roles", "broker,controller"),
    ("node.id", "1"),
    ("controller.quorum.voters", "1@localhost:9093"),
    ("listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"),
    ("advertised.listeners", "PLAINTEXT://localhost:9092"),
    ("controller.listener.names", "CONTROLLER"),
    ("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"),
    ("offsets.topic.replication.factor", "1"),
)
_TAG = re.compile(
    r"(?:^|/)(confluentinc/cp-|apache/|wurstmeister/|bitnami/|bitnamilegacy/)(?:kafka|server)(?:-native)?:"
    r"(?:2\.1[0-3]-)?(\d)\.(\d{1,2})\b"
)
# Images that set nothing but what their variables say, once a variable is a setting.
_WITHOUT_DEFAULTS = ("apache", "confluent")
_CLUSTER_ID = {"apache": "CLUSTER_ID", "confluent": "CLUSTER_ID", "bitnami": "KAFKA_KRAFT_CLUSTER_ID"}
# Confluent's release that has the minor number of its Kafka.
_FIRST_LIKE_KAFKA = 7
_WITHOUT_ZOOKEEPER = (4, 0)
_QUORUM = frozenset({"controller.quorum.voters", "controller.quorum.bootstrap.servers"})
_FILE_OF_BROKER = re.compile(r"/mnt/shared/config|\b(?:server|kafka|broker|controller)\.properties")
_ZOOKEEPER = re.compile(r"(?:^|[/-])zookeeper(?:[:@]|$)")
_ZOOKEEPER_PORT = re.compile(r"ZOOKEEPER_CLIENT_PORT|ZOO_PORT(?:_NUMBER)?")
_REPLICAS_OF_OFFSETS = "offsets.topic.replication.factor"
_HOST = re.compile(r"://[^,]*?:(?=-?\d+(?:,|$))")
# The image of wurstmeister puts the output of a command there.
_AT_START = re.compile(r"_\{\w+\}")
_IN_COMMAND = re.compile(r"KAFKA_(?:CFG_)?(?:ADVERTISED_)?LISTENERS=|\b(?:advertised\.)?listeners=")
_OF_COMMAND = re.compile(r"(--(?:[\w.-]*bootstrap[.-]servers?|broker-list|brokers|kafka\.server))[= ]+(\S+)")
_IN_TEXT = re.compile(r"(bootstrap\.servers)[\"']?\s*[:=]\s*[\"']?([\w.:,-]+)")
_CLIENT = re.compile(r"BOOTSTRAP|BROKERS?(?!_?ID)(?:_|$)|BROKER_?CONNECT|KAFKA_(?:HOSTS?|SERVERS?|URL|ADDRESS)$")
_ENDPOINT = re.compile(r"(?:([A-Za-z_]+)://)?([\w.-]+):(\d{1,5})", re.ASCII)


def parse_compose(
    text: str, source: str, beside: Beside = lambda _: None, overriding: Iterable[tuple[str, str]] = ()
) -> tuple[BrokerFile, ...]:
    """A file for each service that sets something about listeners.

    Args:
        beside: reads the files that belong to the project.
        overriding: text and name of each file that is merged into this one.

    Raises:
        ConfigError: it is not a compose file, or a setting depends on a variable without a default or on what the
            container runs.
    """
    services = services_of(text, source, beside)
    for other in overriding:
        services = merged(services, services_of(*other, beside))
    variables = variables_of(beside(".env") or "")
    published = {name: _published(service, variables) for name, service in services.items()}
    clients = tuple(_clients(services, variables))
    zookeepers = tuple(_zookeepers(services, variables))

    def read(named: tuple[str, Service]) -> BrokerFile:
        name, service = named
        settings = tuple(_settings(service, f"service `{name}`", source, variables))
        filled = settings + _of_the_image(service, dict(settings))
        ports = published[name]
        return BrokerFile(
            f"{source} {name}",
            filled,
            published=None if ports is None else tuple((inside, outside) for inside, outside, _ in ports),
            addresses=tuple(address for _, _, address in ports or ()),
            profiles=tuple(map(str, _listed(service, "profiles"))),
            names=(name, *_names(service)),
            others_ports=tuple(
                outside for other, theirs in published.items() if other != name for _, outside, _ in theirs or ()
            ),
            clients=clients,
            zookeepers=zookeepers,
            lacking=tuple(_lacking(service, dict(settings))),
            release=_release(_image(service)),
            cluster_id=_cluster_id(service, dict(settings), variables),
        )

    files = tuple(each for each in read_all(read, services.items()) if each.settings)
    images = {name: service.get("image") for name, service in services.items()}
    others = [
        f"`{name}`" for name, image in images.items() if isinstance(image, str) and "redpandadata/redpanda" in image
    ]
    if others and not files:
        message = f"`{source}`: {listed(others)} is Redpanda, whose listeners stand in its command"
        hint = "give `doctor` a bootstrap server of the running cluster; `--advertise-kafka-addr` is what clients dial"
        raise ConfigError(Finding("no-broker", message, hint))
    return files


def settings_of_variables(variables: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The listener settings among the variables of a container, whose image is unknown."""
    named = ((_setting_of(name, ignores_cfg=False), value) for name, value in variables.items())
    return tuple((setting, value.strip()) for setting, value in named if setting and setting_like(setting))


def _settings(service: Service, where: str, source: str, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    ignores_cfg = _WITHOUT_CFG.search(_image(service)) is not None
    named = ((_setting_of(name, ignores_cfg=ignores_cfg), name, value) for name, value in service["environment"])
    kept = [(setting, name, value) for setting, name, value in named if setting and setting_like(setting)]
    if kept and _IN_COMMAND.search(_command(service)):
        message = f"{where}: its command sets listeners, which only the running container knows"
        hint = "give `doctor` a bootstrap server of the running cluster, or write the settings into `environment`"
        raise ConfigError(Finding("variable-unknown", message, hint, Location(source)))
    for setting, name, value in kept:
        text = interpolated(value, variables)
        if text is None:
            without = listed([f"`{each}`" for each in undefined(value, variables)])
            message = f"{where}: `{name}` depends on {without or 'a variable'}, which has no default in the file"
            raise ConfigError(Finding("variable-unknown", message, RESOLVE, Location(source)))
        if filled := _AT_START.search(text):
            message = f"{where}: the image fills in `{filled[0]}` of `{name}` at its start"
            hint = "write the value that the container has, or give `doctor` a bootstrap server of the running cluster"
            raise ConfigError(Finding("variable-unknown", message, hint, Location(source)))
        yield setting, text.strip()


def _command(service: Service) -> str:
    return " ".join(chain.from_iterable(texts(service.get(key)) for key in ("entrypoint", "command")))


def _setting_of(variable: str, *, ignores_cfg: bool) -> str | None:
    """The Kafka setting of a variable, None if it has none.

    The images of Apache and Confluent read `KAFKA_`, and for them `KAFKA_CFG_LISTENERS` is the unknown setting
    `cfg.listeners`; Bitnami's reads `KAFKA_CFG_`, and the former as aliases. One underscore is a dot, two are an
    underscore, three a dash (`KafkaDockerWrapper`, `getServerConfigsFromEnv`).
    """
    if not variable.startswith("KAFKA_"):
        return None
    rest = variable.removeprefix("KAFKA_")
    rest = (rest if ignores_cfg else rest.removeprefix("CFG_")).lower()
    return re.sub("_{1,3}", lambda run: _RUNS[len(run[0])], rest)


def _lacking(service: Service, settings: Mapping[str, str]) -> Iterator[str]:
    """Variables without which the image does not start Kafka (`dub ensure CLUSTER_ID`, `KafkaConfig`)."""
    family, release = _family(service), _release(_image(service)) or (0, 0)
    if not settings or _is_mounted(service):
        return
    if family == "wurstmeister" and "zookeeper.connect" not in settings:
        yield "KAFKA_ZOOKEEPER_CONNECT"
    if family not in _WITHOUT_DEFAULTS:
        return
    if "process.roles" not in settings:
        if "zookeeper.connect" not in settings or release >= _WITHOUT_ZOOKEEPER:
            yield "KAFKA_PROCESS_ROLES"
        return
    if not _QUORUM & settings.keys():
        yield "KAFKA_CONTROLLER_QUORUM_VOTERS"
    if family == "confluent" and "CLUSTER_ID" not in dict(service["environment"]):
        yield "CLUSTER_ID"


def _cluster_id(service: Service, settings: Mapping[str, str], variables: Mapping[str, str]) -> str | None:
    """The variable that the image formats the data folder with; Apache's has an id of its own, Bitnami's draws one."""
    variable = _CLUSTER_ID.get(_family(service))
    if variable is None or "process.roles" not in settings:
        return None
    given = dict(service["environment"]).get(variable)
    if given is None:
        return "" if variable == _CLUSTER_ID["bitnami"] else None
    return interpolated(given, variables)


def _image(service: Service) -> str:
    return "".join(texts(service.get("image")))


def _family(service: Service) -> str:
    """Who makes the image, empty if it is none of those whose start script is known."""
    found = _FAMILY.search(_image(service))
    return found.lastgroup or "" if found else ""


def _is_mounted(service: Service) -> bool:
    """Whether a broker's file is mounted."""
    return any(map(_FILE_OF_BROKER.search, texts(service.get("volumes"))))


def _release(image: str) -> tuple[int, int] | None:
    """Kafka's release by the tag: Confluent's 7.x has Kafka 3.x; wurstmeister's tag begins with Scala's release."""
    tag = _TAG.search(image)
    if tag is None:
        return None
    major, minor = int(tag[2]), int(tag[3])
    if tag[1] == "confluentinc/cp-":
        return (major - 4, minor) if major >= _FIRST_LIKE_KAFKA else None
    return major, minor


def _clients(services: Mapping[str, Service], variables: Mapping[str, str]) -> Iterator[ComposeClient]:
    """The bootstrap servers in the variables and the command of each service."""
    for name, service in services.items():
        given = [
            each
            for each in service["environment"]
            if (_CLIENT.search(each[0]) and "LISTENER" not in each[0]) or each[0].endswith("ZOOKEEPER_CONNECT")
        ]
        inside = [found for _, value in service["environment"] if "\n" in value for found in _IN_TEXT.findall(value)]
        for variable, value in [*given, *inside, *_OF_COMMAND.findall(_command(service))]:
            text = interpolated(value, variables)
            if text is None:
                continue
            # Behind the servers of ZooKeeper there may be a path in it.
            ends = [
                _ENDPOINT.fullmatch(each.strip().partition("/")[0] if "ZOO" in variable else each.strip())
                for each in text.split(",")
            ]
            if all(ends):
                for each in filter(None, ends):
                    way = _way(services, service, each[2])
                    yield ComposeClient(name, variable, each[2], int(each[3]), way, (each[1] or "").upper())


def _zookeepers(services: Mapping[str, Service], variables: Mapping[str, str]) -> Iterator[str]:
    """The endpoints of ZooKeeper's services in Docker's networks."""
    for name, service in services.items():
        if not _ZOOKEEPER.search(_image(service)):
            continue
        given = [value for variable, value in service["environment"] if _ZOOKEEPER_PORT.fullmatch(variable)]
        port = interpolated(given[-1], variables) if given else "2181"
        if port and _NUMBER.fullmatch(port):
            yield from (f"{each}:{port}" for each in dict.fromkeys((name, *_names(service))))


def _way(services: Mapping[str, Service], client: Service, host: str) -> Way:
    mode = client.get("network_mode")
    given = any(host in re.split("[:=]", each) for each in _given_hosts(client))
    if given or (mode and (mode != "host" or is_loopback(host))):
        return "elsewhere"
    if mode:
        return "host"
    if is_loopback(host):
        return "own"
    having = [service for name, service in services.items() if host in (name, *_names(service))]
    if not having:
        return "unknown" if "." not in host else "elsewhere"
    return "shared" if any(_networks(client) & _networks(service) for service in having) else "apart"


def _given_hosts(service: Service) -> Iterator[str]:
    for key in ("extra_hosts", "links", "external_links"):
        yield from texts(service.get(key))


def _networks(service: Service) -> set[str]:
    return set(texts(service.get("networks"))) or {"default"}


def _of_the_image(service: Service, settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What the images of Apache and Confluent set by themselves.

    They bind every address on the advertised ports if `KAFKA_LISTENERS` is not set (`configure`). Apache's takes its
    default file if no variable is a setting and no file is mounted (`KafkaDockerWrapper`).
    """
    family, advertised = _family(service), settings.get("advertised.listeners")
    runs_as_shipped = not _is_mounted(service) and not _command(service)
    if family == "apache" and runs_as_shipped and not any(map(_A_SETTING.match, dict(service["environment"]))):
        return _DEFAULTS
    filled = []
    if advertised is not None and "listeners" not in settings and _WITHOUT_CFG.search(_image(service)):
        filled.append(("listeners", _HOST.sub("://0.0.0.0:", advertised)))
    starts = settings.keys() & {"process.roles", "zookeeper.connect"} and not _is_mounted(service)
    if starts and family in _WITHOUT_DEFAULTS and _REPLICAS_OF_OFFSETS not in settings:
        # Kafka's default; the file of a distribution, which other images start from, has 1.
        filled.append((_REPLICAS_OF_OFFSETS, "3"))
    return tuple(filled)


def _listed(service: Service, name: str) -> list[Any]:
    value = service.get(name)
    return value if isinstance(value, list) else []


def _names(service: Service) -> Iterator[str]:
    """What the service is called in Docker's networks, and its fixed addresses there."""
    yield from (str(service[name]) for name in ("hostname", "container_name") if name in service)
    networks = service.get("networks")
    for network in networks.values() if isinstance(networks, dict) else ():
        if isinstance(network, dict):
            yield from map(str, _listed(network, "aliases"))
            yield from (str(network[name]) for name in ("ipv4_address", "ipv6_address") if name in network)


def _published(service: Service, variables: Mapping[str, str]) -> tuple[tuple[int, int, str], ...] | None:
    """As `_ports`; None in the host's own network, where nothing is published."""
    return None if service.get("network_mode") == "host" else tuple(_ports(service, variables))


def _ports(service: Service, variables: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Container port, host port, the host's address (empty for all); ports that Docker chooses are left out."""
    for entry in _listed(service, "ports"):
        if isinstance(entry, dict):
            given = [each for name in ("target", "published") if isinstance(each := entry.get(name), (int, str))]
            pair = [interpolated(str(each), variables) or "" for each in given]
            if len(pair) == 2 and all(map(_NUMBER.fullmatch, pair)):
                yield int(pair[0]), int(pair[1]), _address(str(entry.get("host_ip", "")))
        elif isinstance(entry, (int, str)) and (parts := _PORT.fullmatch(interpolated(str(entry), variables) or "")):
            first, last, inside = int(parts[2]), int(parts[3] or parts[2]), int(parts[4])
            at = _address(parts[1] or "")
            yield from ((inside + step, first + step, at) for step in range(min(last - first, _MOST_PORTS) + 1))


def _address(text: str) -> str:
    host = text.strip("[]")
    return "" if is_wildcard(host) else host
