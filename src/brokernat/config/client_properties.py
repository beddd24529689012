"""The `client:` section: Kafka's own property names, values as Kafka wants them (text), secrets as Secrets.

Names are Kafka's, so unknown ones are let through (Kafka warns about them itself, and interceptors bring their own);
only what the file says elsewhere is refused. Two names are librdkafka's: `sasl.username` and `sasl.password`, from
which the JAAS line is made, because nobody writes one without mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from brokernat.config.kafka_names import PROTOCOLS, is_secret
from brokernat.config.problems import Fault, did_you_mean, faults
from brokernat.config.secrets import References, Secret, Unresolved
from brokernat.errors import ConfigError, Finding

LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}

_ELSEWHERE = {
    "bootstrap.servers": "`bootstrap_servers`, beside `client`",
    "brokernat.map": "`address_map`, beside `client`",
    "brokernat.unmapped": "`unmapped`, beside `client`",
}


def security_protocol(value: str | Secret) -> str | Secret:
    """The value of `security.protocol` in upper case; Kafka ignores its case.

    Raises:
        ConfigError: Kafka has no such protocol. A value from a reference is not quoted.
    """
    if isinstance(value, Unresolved):
        return value
    text = value.reveal() if isinstance(value, Secret) else value
    protocol = text.strip().upper()
    if protocol not in PROTOCOLS:
        shown = (
            "a value that Kafka does not have" if isinstance(value, Secret) else f"`{text}`, which Kafka does not have"
        )
        hint = protocol_hint("" if isinstance(value, Secret) else text)
        raise ConfigError(Finding("not-a-choice", f"`security.protocol` is {shown}", hint))
    return Secret(protocol) if isinstance(value, Secret) else protocol


def protocol_hint(unknown: str) -> str:
    """The protocols that Kafka has, the one that was probably meant first."""
    return " ".join(filter(None, (did_you_mean(unknown, PROTOCOLS), f"Kafka has {', '.join(PROTOCOLS)}")))


def _client(value: object, info: ValidationInfo) -> dict[str, str | Secret]:
    value = {} if value is None else value
    if not isinstance(value, Mapping):
        raise faults([Fault(Finding("wrong-type", "`client` must be a mapping (`security.protocol: SASL_SSL`)"))])
    references: References = (info.context or {}).get("references") or References()
    result: dict[str, str | Secret] = {}
    found: list[Fault] = []
    for name, written in value.items():
        if name in _ELSEWHERE:
            problem = Finding("misplaced", f"`{name}` does not belong into `client`", f"it is {_ELSEWHERE[name]}")
            found.append(Fault(problem, (name,), key=True))
            continue
        try:
            read = _property(name, written, references)
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
            return Secret(value) if is_secret(name) and isinstance(value, str) else value
        case dict() if all(isinstance(key, str) for key in written):
            hint = f"write the property's whole name: `{name}.{next(iter(written), '…')}: …`"
            raise ConfigError(Finding("wrong-type", f"`{name}` is a mapping, not a value", hint))
        case None:
            raise ConfigError(Finding("empty", f"`{name}` has no value", "write `''` for an empty one"))
        case _:
            hint = "Kafka's lists are text with commas: `a,b`"
            raise ConfigError(Finding("wrong-type", f"`{name}` is a list, not a value", hint))


def login_faults(written: Mapping[str, Any], read: Mapping[str, str | Secret]) -> Iterator[Fault]:
    """What would silently become another login than the one that was meant.

    Args:
        written: the properties by name, as they were given.
        read: those that could be read, with their values.
    """
    given = [name for name in ("sasl.username", "sasl.password") if name in written]
    if not given or "sasl.jaas.config" in written:
        return
    if len(given) == 1:
        other = "sasl.password" if given == ["sasl.username"] else "sasl.username"
        yield Fault(Finding("login-incomplete", f"`{given[0]}` is given without `{other}`"), (given[0],), key=True)
    mechanism = read.get("sasl.mechanism")
    if "sasl.mechanism" not in written:
        hint = "add `sasl.mechanism: PLAIN` or `SCRAM-SHA-512`, whichever the brokers use"
        problem = Finding(
            "login-mechanism", "a user name is given, but no `sasl.mechanism` (Kafka's default is GSSAPI)", hint
        )
        yield Fault(problem, (given[0],), key=True)
    elif isinstance(mechanism, str) and mechanism not in LOGIN_MODULES:
        hint = f"user name and password serve {', '.join(LOGIN_MODULES)}; for others write `sasl.jaas.config`"
        yield Fault(
            Finding("login-mechanism", f"`sasl.mechanism` {mechanism} takes no user name", hint), ("sasl.mechanism",)
        )


ClientProperties = Annotated[
    Mapping[str, str | Secret],
    PlainValidator(_client),
    WithJsonSchema({"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "boolean"]}}),
]
