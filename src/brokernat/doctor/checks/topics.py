"""The topics that a client names: whether they exist, and what its user may do with them."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.queries import acl_line
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.evidence import Evidence
from brokernat.doctor.finding import CheckFinding

_FORBIDDEN = "TOPIC_AUTHORIZATION_FAILED"
_CLIENTS = {"READ": "consumers", "WRITE": "producers"}


@check("BN508", Need.METADATA, Need.TOPICS)
def topic_missing(evidence: Evidence) -> Iterator[CheckFinding]:
    """A topic cannot be used.

    Cause: These topics cannot be used: {subjects}.
    What: the cluster has no topic with a name that was given with `--topic`, or returns an error for it.
    Why: the name has a typing error, the topic was not created or was deleted, or the bootstrap servers are those of
    another cluster. Producers and consumers get `UNKNOWN_TOPIC_OR_PARTITION`; a broker with
    `auto.create.topics.enable=true` creates the topic when a producer asks for it.
    Remedy: correct the name, or create the topic with `kafka-topics.sh`.
    """
    for each in evidence.topics:
        subject = f"topic {each.name}"
        if each.error == "not-answered":
            message = "the connection ended or the time ran out before a response"
            yield warning(subject, message, client="run the doctor again with more time: `--timeout SECONDS`")
        elif each.error == "UNKNOWN_TOPIC_OR_PARTITION":
            fix = "compare the name and the cluster with what was agreed"
            yield error(subject, "the cluster has no topic of this name", client=fix, broker="create the topic")
        elif each.error and each.error != _FORBIDDEN:
            yield error(subject, f"the broker returns {each.error} for it")


@check("BN509", Need.METADATA, Need.TOPICS)
def topic_rights(evidence: Evidence) -> Iterator[CheckFinding]:
    """A right to a topic is missing.

    Cause: The client's user has no right to {subjects}.
    What: the client's user may neither read nor write a topic that was given with `--topic`, or only one of the two.
    Why: an authorizer runs, and no rule allows it. Clients get `TOPIC_AUTHORIZATION_FAILED`. Brokers before 2.3 tell
    only whether the user sees the topic.
    Remedy: grant the right with the `kafka-acls.sh` line of the finding: `Read` to a consumer, `Write` to a producer.
    """
    for each in evidence.topics:
        subject = f"topic {each.name}"
        rights = _CLIENTS if each.rights is None and not each.error else each.rights or ()
        missing = [right for right in _CLIENTS if right not in rights]
        lines = [acl_line(evidence, f"--operation {right.capitalize()} --topic {each.name}") for right in missing]
        if each.error == _FORBIDDEN or (not each.error and len(missing) == len(_CLIENTS)):
            yield error(subject, "this user may neither read nor write it", broker=lines)
        elif not each.error and missing:
            message = f"this user has no right to {missing[0]}, so {_CLIENTS[missing[0]]} are rejected"
            yield info(subject, message, broker=lines)
