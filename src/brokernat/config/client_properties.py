"""The `client:` section: Kafka's property names, values as text, secrets as Secrets.

The names are taken from `configDef()` of the admin client, the consumer and the producer of kafka-clients 2.4.1, 2.8.2,
3.0.2, 3.4.1, 3.9.2, 4.0.2, 4.3.1 and 4.4.0. They serve hints only: unknown names are passed on, because interceptors,
serializers and newer clients define their own. Only properties that have their own key elsewhere in the file are
refused. Two names are librdkafka's: the JAAS line is made from `sasl.username` and `sasl.password`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from brokernat.config.java_properties import parse_jaas
from brokernat.config.problems import Fault, did_you_mean, faults, nearest
from brokernat.config.secrets import References, Secret, Unresolved
from brokernat.errors import ConfigError, Finding
from brokernat.paths import expanded_home

# fmt: off
NAMES = frozenset((
    "acks", "allow.auto.create.topics", "auto.commit.interval.ms", "auto.include.jmx.reporter", "auto.offset.reset",
    "batch.size", "bootstrap.controllers", "bootstrap.resolve.timeout.ms", "bootstrap.servers", "buffer.memory",
    "buffer.memory.allocation.strategy", "check.crcs", "client.dns.lookup", "client.id", "client.rack",
    "compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
    "config.providers", "connections.max.idle.ms", "default.api.timeout.ms", "delivery.timeout.ms",
    "enable.auto.commit", "enable.idempotence", "enable.metrics.push", "exclude.internal.topics", "fetch.max.bytes",
    "fetch.max.wait.ms", "fetch.min.bytes", "group.id", "group.instance.id", "group.protocol",
    "group.remote.assignor", "heartbeat.interval.ms", "interceptor.classes", "isolation.level", "key.deserializer",
    "key.serializer", "linger.ms", "max.block.ms", "max.in.flight.requests.per.connection",
    "max.partition.fetch.bytes", "max.poll.interval.ms", "max.poll.records", "max.request.size",
    "metadata.cluster.check.enable", "metadata.max.age.ms", "metadata.max.idle.ms",
    "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy", "metric.reporters",
    "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms", "partition.assignment.strategy",
    "partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms", "partitioner.class",
    "partitioner.ignore.keys", "partitioner.rack.aware", "receive.buffer.bytes", "reconnect.backoff.max.ms",
    "reconnect.backoff.ms", "request.timeout.ms", "retries", "retry.backoff.max.ms", "retry.backoff.ms",
    "sasl.client.callback.handler.class", "sasl.jaas.config", "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin", "sasl.kerberos.service.name", "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor", "sasl.login.callback.handler.class", "sasl.login.class",
    "sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms", "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds", "sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms", "sasl.login.retry.backoff.ms", "sasl.mechanism",
    "sasl.oauthbearer.allow.unverified.audience", "sasl.oauthbearer.allow.unverified.issuer",
    "sasl.oauthbearer.assertion.algorithm", "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds", "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include", "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub", "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file", "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.template.file", "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer", "sasl.oauthbearer.header.urlencode",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms", "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.jwt.retriever.class", "sasl.oauthbearer.jwt.validator.class", "sasl.oauthbearer.scope",
    "sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name", "sasl.oauthbearer.token.endpoint.url",
    "security.protocol", "security.providers", "send.buffer.bytes", "session.timeout.ms",
    "share.acknowledgement.mode", "share.acquire.mode", "socket.connection.setup.timeout.max.ms",
    "socket.connection.setup.timeout.ms", "ssl.cipher.suites", "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm", "ssl.engine.factory.class", "ssl.key.password",
    "ssl.keymanager.algorithm", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location",
    "ssl.keystore.password", "ssl.keystore.type", "ssl.protocol", "ssl.provider",
    "ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "ssl.truststore.certificates",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type", "transaction.timeout.ms",
    "transaction.two.phase.commit.enable", "transactional.id", "value.deserializer", "value.serializer",
))
# fmt: on

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
"""The values of `security.protocol` (Kafka's SecurityProtocol); Kafka ignores their case."""

# librdkafka's names for a login; for the Java client they become a JAAS line.
LOGIN_NAMES = frozenset({"sasl.username", "sasl.password"})
_PEM_KEY = "`ssl.keystore.location` of a file with key and certificates, and `ssl.keystore.type: PEM`"
_OF_LIBRDKAFKA = {
    "metadata.broker.list": "`bootstrap.servers`",
    "sasl.mechanisms": "`sasl.mechanism`",
    "ssl.ca.location": "`ssl.truststore.location` and `ssl.truststore.type: PEM`",
    "ssl.certificate.location": _PEM_KEY,
    "ssl.key.location": _PEM_KEY,
}
"""What librdkafka's users write, and Kafka's properties for it."""


def instead_of(name: str, cutoff: float = 0.6) -> str | None:
    """The hint for a property that Kafka does not have; None if none is similar enough (`cutoff` as in difflib)."""
    if name in _OF_LIBRDKAFKA:
        return f"`{name}` is a property of librdkafka; write {_OF_LIBRDKAFKA[name]}"
    if name.startswith("spring.") and ".jaas." in name:
        return "write `sasl.jaas.config` with the module and its options"
    name = re.sub(r"\[(.+)\]$", r".\1", name) if name.startswith("spring.") else name
    prefix = next((name[: -len(own)] for own in sorted(NAMES, key=len, reverse=True) if name.endswith(f".{own}")), None)
    if prefix:
        # As in the files of Spring, Spark and Connect.
        return f"write `{name.removeprefix(prefix)}`, without `{prefix}`"
    return did_you_mean(name, NAMES | LOGIN_NAMES, cutoff)


# ConfigDef.Type.PASSWORD, and librdkafka's password.
_PASSWORDS = frozenset(
    {
        "sasl.jaas.config",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.client.credentials.client.secret",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "sasl.password",
    }
)

SECRET_NAMES = r"password|secret|passphrase|token|jaas|credential|user[.]info|keystore[.]key"  # noqa: S105
"""A pattern of secrets' names in Kafka, serializers and interceptors; in lower case."""
_LIKE_A_SECRET = re.compile(SECRET_NAMES, re.IGNORECASE)
_INSIDE = re.compile(
    rf"""(?:{SECRET_NAMES})\w*\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"';&]+))|//[^/@:\s]*:([^/@\s]+)@""",
    re.IGNORECASE,
)
"""A secret in a line of JAAS or in a URL: `password="…"`, `//user:password@`."""
LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_UNITS = {".ms": "milliseconds", ".seconds": "seconds", ".bytes": "bytes"}
"""The ends of names whose values are INT, LONG or SHORT in Kafka's ConfigDef."""
# librdkafka's `linger.ms` has decimals.
_NUMBERS = frozenset(name for name in NAMES - {"linger.ms"} if name.endswith(tuple(_UNITS))) | {
    "batch.size",
    "buffer.memory",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "max.in.flight.requests.per.connection",
    "max.poll.records",
    "max.request.size",
    "metrics.num.samples",
    "retries",
    "sasl.kerberos.min.time.before.relogin",
}
_BOOLEANS = frozenset(
    {
        "allow.auto.create.topics",
        "auto.include.jmx.reporter",
        "check.crcs",
        "enable.auto.commit",
        "enable.idempotence",
        "enable.metrics.push",
        "exclude.internal.topics",
        "metadata.cluster.check.enable",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.ignore.keys",
        "partitioner.rack.aware",
        "sasl.oauthbearer.allow.unverified.audience",
        "sasl.oauthbearer.allow.unverified.issuer",
        "sasl.oauthbearer.assertion.claim.jti.include",
        "sasl.oauthbearer.header.urlencode",
        "transaction.two.phase.commit.enable",
    }
)
_MAY_BE_NEGATIVE = frozenset(
    {
        "compression.gzip.level",
        "compression.zstd.level",
        "connections.max.idle.ms",
        "receive.buffer.bytes",
        "send.buffer.bytes",
    }
)
"""Numbers with a meaning below 0: the system's default, never, fast compression."""
_CHOICES = {
    "acks": ("all", "-1", "0", "1"),
    "auto.offset.reset": ("earliest", "latest", "none", "by_duration:"),
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only", "default"),
    "compression.type": ("none", "gzip", "snappy", "lz4", "zstd"),
    "group.protocol": ("classic", "consumer"),
    "isolation.level": ("read_uncommitted", "read_committed"),
    "metadata.recovery.strategy": ("none", "rebootstrap"),
    "metrics.recording.level": ("INFO", "DEBUG", "TRACE"),
}
"""The values of Kafka's enumerations; one with `:` at its end has an argument."""
_ANY_CASE = frozenset({"group.protocol", "metadata.recovery.strategy"})
_STORE_TYPES = ("PEM", "PKCS12", "JKS", "JCEKS", "DKS", "PKCS11", "BCFKS")
"""Kafka's, the JDK's, and that of Bouncy Castle; a security provider may have others."""
_MECHANISMS = {each.replace("-", ""): each for each in (*LOGIN_MODULES, "GSSAPI", "OAUTHBEARER")}
"""Kafka's mechanisms by their letters and digits; a broker may have others."""
FILES = frozenset(
    {
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.template.file",
        "ssl.keystore.location",
        "ssl.truststore.location",
    }
)
"""Properties whose value is the path of a file."""
_ELSEWHERE = {
    "bootstrap.servers": "`bootstrap_servers`, beside `client`",
    "brokernat.map": "`address_map`, beside `client`",
    "brokernat.unmapped": "`unmapped`, beside `client`",
}


def is_secret(name: str) -> bool:
    """Whether a property's value is secret."""
    return name in _PASSWORDS or (name not in NAMES and _LIKE_A_SECRET.search(name) is not None)


def secrets_of(properties: Mapping[str, str | Secret | None]) -> tuple[str, ...]:
    """The secrets of properties or options, for `masked`: whole values, and the passwords in JAAS lines and URLs.

    A user name is no secret, also from a reference: a short one is a part of many words.
    """
    found = []
    for name, value in properties.items():
        text = value.reveal() if isinstance(value, Secret) else value or ""
        if name != "sasl.username" and (isinstance(value, Secret) or is_secret(name)):
            found += [text, text.partition(":")[2] if name.endswith("user.info") else ""]
        found += [re.sub(r"\\(.)", r"\1", part) for each in _INSIDE.findall(text) for part in each]
    return tuple(filter(None, found))


def security_protocol(value: str | Secret) -> str | Secret:
    """The value of `security.protocol` in upper case; Kafka ignores its case.

    Raises:
        ConfigError: Kafka has no such protocol. A value from a reference is not printed.
    """
    if isinstance(value, Unresolved):
        return value
    text = value.reveal() if isinstance(value, Secret) else value
    protocol = text.strip().upper()
    if protocol not in PROTOCOLS:
        shown = (
            "a value that Kafka does not have"
            if isinstance(value, Secret)
            else f"`{text}`, which is not a Kafka protocol"
        )
        hint = protocol_hint("" if isinstance(value, Secret) else text)
        raise ConfigError(Finding("not-a-choice", f"`security.protocol` is {shown}", hint))
    return Secret(protocol) if isinstance(value, Secret) else protocol


def protocol_hint(unknown: str) -> str:
    """Kafka's protocols; the most similar one is first."""
    return " ".join(filter(None, (did_you_mean(unknown, PROTOCOLS), f"allowed: {', '.join(PROTOCOLS)}")))


def require_valid(name: str, value: str | Secret) -> None:
    """Refuse a value that Kafka does not accept for a property.

    Raises:
        ConfigError: the value is refused. A value from a reference is not printed.
    """
    if isinstance(value, Unresolved):
        return
    text = (value.reveal() if isinstance(value, Secret) else value).strip()
    if name == "sasl.jaas.config":
        login_module(text)
    elif (refused := _refused(name, text)) is not None:
        code, expected, hint = refused
        shown = "a value from a reference" if isinstance(value, Secret) else f"`{value}`"
        raise ConfigError(Finding(code, f"`{name}` is {shown}, but must be {expected}", hint))


def _refused(name: str, text: str) -> tuple[str, str, str | None] | None:
    """The code of a refused value, what Kafka expects instead, and a hint; None for a valid value."""
    if name in _NUMBERS:
        unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), None)
        if not re.fullmatch(r"[+-]?\d+", text, re.ASCII):
            hint = f"write the number of {unit} without a unit" if unit else "write a number"
            return "wrong-type", "a whole number", hint
        if int(text) < 0 and name not in _MAY_BE_NEGATIVE:
            return "too-small", "0 or greater", f"write a number of {unit}" if unit else "write a larger number"
    if name in _BOOLEANS and text.lower() not in ("true", "false"):
        return "wrong-type", "`true` or `false`", "write `true` or `false`"
    choices = _CHOICES.get(name, ())
    if choices and not {text, text.lower() if name in _ANY_CASE else text, text.partition(":")[0] + ":"} & {*choices}:
        return "not-a-choice", " or ".join(f"`{each}`" for each in choices), did_you_mean(text, choices)
    if name.endswith("store.type") and text.upper() not in _STORE_TYPES and (near := nearest(text, _STORE_TYPES)):
        return "not-a-choice", "a type that Java has, such as `PEM`, `PKCS12` or `JKS`", f"did you mean `{near}`?"
    if name == "sasl.mechanism" and (meant := _MECHANISMS.get(_letters(text), text)) != text:
        return "login-mechanism", "a mechanism in Kafka's spelling", f"did you mean `{meant}`?"
    return None


def login_module(text: str) -> str:
    """The login module of a JAAS line.

    Raises:
        ConfigError: Kafka cannot read the line; it is not printed.
    """
    try:
        return parse_jaas(text).module
    except ValueError:
        hint = 'Kafka wants `MODULE required username="…" password="…";` with the `;` at the end'
        raise ConfigError(Finding("login-module", "`sasl.jaas.config` cannot be read", hint)) from None


def _letters(mechanism: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", mechanism.upper())


def _client(value: object, info: ValidationInfo) -> dict[str, str | Secret]:
    value = {} if value is None else value
    if not isinstance(value, Mapping):
        raise faults([Fault(Finding("wrong-type", "`client` must be a mapping (`security.protocol: SASL_SSL`)"))])
    references: References = (info.context or {}).get("references") or References()
    result: dict[str, str | Secret] = {}
    found: list[Fault] = []
    for name, written in value.items():
        if name in _ELSEWHERE:
            problem = Finding("misplaced", f"`{name}` does not belong in `client`", f"it is {_ELSEWHERE[name]}")
            found.append(Fault(problem, (name,), key=True))
            continue
        try:
            read = _property(name, written, references)
            require_valid(name, read)
            result[name] = security_protocol(read) if name == "security.protocol" else read
        except ConfigError as error:
            found.extend(Fault(problem, (name,)) for problem in error.problems)
    found.extend(login_faults(value, result))
    if found:
        raise faults(found)
    return result


def _property(name: str, written: object, references: References) -> str | Secret:
    match written:
        case Secret():
            return written
        case bool():
            return str(written).lower()
        case int() | float():
            return str(written)
        case str():
            value = references.expand(written)
            if name in FILES:
                return _located(value, references.folder)
            return Secret(value) if is_secret(name) and isinstance(value, str) else value
        case dict() if all(isinstance(key, str) for key in written):
            hint = f"write the property's whole name: `{name}.{next(iter(written), '…')}: …`"
            raise ConfigError(Finding("wrong-type", f"`{name}` is a mapping, not a value", hint))
        case None:
            raise ConfigError(Finding("empty", f"`{name}` has no value", "write `''` for an empty one"))
        case _:
            hint = "Kafka's lists are text with commas: `a,b`"
            raise ConfigError(Finding("wrong-type", f"`{name}` is a list, not a value", hint))


def _located(value: str | Secret, folder: Path) -> str | Secret:
    """A path, resolved against the folder of the file: the programs that read it run in other folders.

    An unresolved reference at its beginning may be an absolute path, so the value does not change.
    """
    text = value.reveal() if isinstance(value, Secret) else value
    if not text or (isinstance(value, Unresolved) and text.startswith("${")):
        return value
    return type(value)(str(folder / expanded_home(text)))


def login_faults(written: Mapping[str, Any], read: Mapping[str, str | Secret]) -> Iterator[Fault]:
    """Combinations that would silently use another login than the user meant.

    Args:
        written: the properties by name, as they were given.
        read: those that could be read, with their values.
    """
    if "sasl.jaas.config" in written:
        yield from _module_faults(written, read)
        return
    given = [name for name in ("sasl.username", "sasl.password") if name in written]
    if not given:
        return
    if len(given) == 1:
        other = "sasl.password" if given == ["sasl.username"] else "sasl.username"
        problem = Finding("login-incomplete", f"`{given[0]}` is given without `{other}`", f"add `{other}`")
        yield Fault(problem, (given[0],), key=True)
    mechanism = read.get("sasl.mechanism")
    if "sasl.mechanism" not in written:
        yield Fault(_no_mechanism("a user name is given", written), (given[0],), key=True)
    elif isinstance(mechanism, str) and mechanism not in LOGIN_MODULES:
        hint = f"user name and password work with {', '.join(LOGIN_MODULES)}; for others write `sasl.jaas.config`"
        hint = did_you_mean(mechanism, LOGIN_MODULES, 0.8) or hint
        yield Fault(
            Finding("login-mechanism", f"`sasl.mechanism` {mechanism} takes no user name", hint), ("sasl.mechanism",)
        )


def _module_faults(written: Mapping[str, Any], read: Mapping[str, str | Secret]) -> Iterator[Fault]:
    """A login module for user names whose mechanism is another one."""
    line, mechanism = read.get("sasl.jaas.config"), read.get("sasl.mechanism")
    sasl = str(read.get("security.protocol", "")).startswith("SASL_")
    if not sasl or not isinstance(line, Secret) or isinstance(line, Unresolved):
        return
    module = login_module(line.reveal())
    if module not in LOGIN_MODULES.values():
        return
    name = module.rpartition(".")[2]
    if "sasl.mechanism" not in written:
        yield Fault(_no_mechanism(f"`{name}` is given", written), ("sasl.jaas.config",), key=True)
    # The JDK has PLAIN itself, so it works with every module that has a user name.
    elif mechanism in {*_MECHANISMS.values()} - {"PLAIN"} and (fitting := LOGIN_MODULES.get(str(mechanism))) != module:
        message = f"`{name}` in `sasl.jaas.config` does not log in with `sasl.mechanism` {mechanism}"
        of_the_module = " or ".join(f"`{each}`" for each, its in LOGIN_MODULES.items() if its == module)
        hint = f"write `sasl.mechanism` {of_the_module}" + (f", or the module `{fitting}`" if fitting else "")
        yield Fault(Finding("login-mechanism", message, hint), ("sasl.mechanism",))


def _no_mechanism(given: str, written: Mapping[str, Any]) -> Finding:
    hint = "add `sasl.mechanism: PLAIN` or `SCRAM-SHA-512`, whichever the brokers use"
    if "sasl.mechanisms" in written:
        hint = instead_of("sasl.mechanisms") or hint
    return Finding("login-mechanism", f"{given}, but no `sasl.mechanism` (Kafka's default is GSSAPI)", hint)


ClientProperties = Annotated[
    Mapping[str, str | Secret],
    PlainValidator(_client),
    WithJsonSchema({"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "boolean"]}}),
]
