"""Checks of partitions, and of what a client names in its options: topics, consumer groups and transactional ids."""

from __future__ import annotations

from collections.abc import Iterator

from brokernat.doctor.checks.failures import path_failure
from brokernat.doctor.checks.places import acl_line, reached_from_here, unreachable
from brokernat.doctor.checks.registry import Need, check, error, info, warning
from brokernat.doctor.evidence import BrokerPath, Evidence
from brokernat.doctor.finding import CheckFinding, Failure
from brokernat.text import counted

_WITHOUT_LEADER = {
    "LISTENER_NOT_FOUND": "define the listener on every broker, with an advertised endpoint",
    "LEADER_NOT_AVAILABLE": "start the brokers that hold the partitions, or define the listener on them",
}
_FORBIDDEN = "TOPIC_AUTHORIZATION_FAILED"
_CLIENTS = {"READ": ("consumers", "group"), "WRITE": ("producers", "transaction")}
"""The clients that need a right, and the kind of coordinator that the user names for them."""
_MORE_TIME = "run the doctor again with more time: `--timeout SECONDS`"


@check("BN504", Need.METADATA, Need.PARTITIONS, explains=("BN703",))
def no_leader_here(evidence: Evidence) -> Iterator[CheckFinding]:
    """Partitions have no leader on this listener.

    Cause: Some partitions of {subjects} have no leader on this listener.
    What: partitions have no leader that clients of this listener may dial: LISTENER_NOT_FOUND or LEADER_NOT_AVAILABLE,
    also when asked again after a second.
    Why: the leader's broker lacks the listener of the client's connection, or no broker that holds the partition is up.
    Producers log `Topic not present in metadata after 60000 ms`.
    Remedy: define the listener on every broker; start the brokers that hold the partitions.
    """
    for each in evidence.leaderless:
        nodes = ", ".join(map(str, each.nodes)) or "unknown"
        count = f"{each.count} partitions have" if each.count > 1 else "1 partition has"
        message = f"{count} no leader on this listener ({each.error})"
        seen = (f"one of them: {each.sample}", f"replicas on nodes: {nodes}")
        # A topic that nobody asked for may be without its broker for a time.
        others = not each.wanted and each.error == "LEADER_NOT_AVAILABLE"
        report = warning if others else error
        yield report(evidence.subject, message, seen, broker=_WITHOUT_LEADER.get(each.error, ()))


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
            yield warning(subject, message, client=_MORE_TIME)
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
    Why: an authorizer runs, and no rule allows it. Clients get `TOPIC_AUTHORIZATION_FAILED`. With `--group` a consumer
    is meant and with `--transactional-id` a producer; otherwise one of the two rights is enough. Brokers before 2.3
    tell only whether the user sees the topic.
    Remedy: grant the right with the `kafka-acls.sh` line of the finding: `Read` to a consumer, `Write` to a producer.
    """
    kinds = {each.kind for each in evidence.coordinators}
    for each in evidence.topics:
        subject = f"topic {each.name}"
        rights = _CLIENTS if each.rights is None and not each.error else each.rights or ()
        missing = [right for right in _CLIENTS if right not in rights]
        lines = [acl_line(evidence, f"--operation {right.capitalize()} --topic {each.name}") for right in missing]
        if each.error == _FORBIDDEN or (not each.error and len(missing) == len(_CLIENTS)):
            unseen = "the broker does not tell this user whether the topic exists: compare its name"
            client = unseen if each.error == _FORBIDDEN else ()
            yield error(subject, "this user may neither read nor write it", client=client, broker=lines)
        elif not each.error and missing:
            clients, kind = _CLIENTS[missing[0]]
            report = error if kind in kinds else info
            yield report(subject, f"this user has no right to {missing[0]}, so {clients} are rejected", broker=lines)


@check("BN511", Need.METADATA, Need.TOPICS)
def too_few_in_sync(evidence: Evidence) -> Iterator[CheckFinding]:
    """Too few replicas of a topic are in sync.

    Cause: Producers with `acks=all` cannot write to {subjects}{reason}.
    What: a partition of a topic that was given with `--topic` has fewer in-sync replicas than the topic's
    `min.insync.replicas`.
    Why: brokers that hold its replicas are down or too slow; or, before Kafka 3.7, the topic has fewer replicas than
    that. Producers with `acks=all` (the default since 3.0) get NOT_ENOUGH_REPLICAS and try again; consumers are not
    affected.
    Remedy: start the brokers that hold its replicas; or give the topic more replicas, or lower the setting.
    """
    for each in evidence.topics:
        if not each.under_min_isr:
            continue
        nodes = ", ".join(map(str, each.out_of_sync))
        seen = f"replicas that are not in sync: on node {nodes}"
        fix = f"start node {nodes}, or look in its log why its replica is behind"
        if not nodes:
            seen = "all its replicas are in sync"
            fix = "give the topic more replicas, or lower `min.insync.replicas`"
        elif set(each.out_of_sync) <= reached_from_here(evidence):
            fix = f"node {nodes} runs, and its replica is behind: look in its log, and check that it reaches the other "
            fix += "brokers at their `inter.broker.listener.name`"
        has = counted(each.in_sync or 0, "in-sync replica")
        message = f"a partition has {has}, and `min.insync.replicas` is {each.required}"
        yield error(f"topic {each.name}", message, (seen,), broker=fix)


_RIGHTS = {
    "group": ("--operation Read --group", "this user has no right to READ, so consumers cannot join it"),
    "transaction": (
        "--operation Write --transactional-id",
        "this user has no right to WRITE, so producers cannot use it",
    ),
}
"""What `kafka-acls.sh` grants to clients, which includes DESCRIBE, and the message if it is missing."""


@check("BN003", Need.METADATA, Need.COORDINATORS)
def right_missing(evidence: Evidence) -> Iterator[CheckFinding]:
    """A right is missing.

    Cause: The client's user has no rights for {subjects}.
    What: the client's user may not look up the coordinator of a named group or transactional id (DESCRIBE), or may not
    join the group (READ) or write with the id (WRITE).
    Why: an authorizer runs, and no rule allows it, or one denies it. Clients of this user fail with
    `GroupAuthorizationException` or `TransactionalIdAuthorizationException`.
    Remedy: grant the right with the `kafka-acls.sh` line of the finding.
    """
    for each in evidence.coordinators:
        option, message = _RIGHTS[each.kind]
        if each.hidden:
            message = "only users with the DESCRIBE right may look up its coordinator"
            seen = f"the broker reports: {each.error}"
        elif each.forbidden:
            seen = "this user may look up its coordinator (DESCRIBE)"
        else:
            continue
        yield error(each.subject, message, (seen,), broker=acl_line(evidence, f"{option} {each.key}"))


@check("BN701", Need.METADATA, Need.GROUPS, Need.OFFSETS_TOPIC)
def group_coordinator(evidence: Evidence) -> Iterator[CheckFinding]:
    """The coordinator of a consumer group is not reached.

    Cause: The coordinators of {subjects} cannot be reached.
    What: the coordinator of a consumer group is a node that this client cannot reach.
    Why: a hash of the group id selects one node as coordinator, so everything else may work. Consumers find their
    group's coordinator but cannot join: `Group coordinator … is unavailable or invalid`.
    Remedy: follow the remedy of the node's own finding.
    """
    yield from _out_of_reach(evidence, "group")


@check("BN702", Need.METADATA, Need.TRANSACTIONS, Need.TRANSACTIONS_TOPIC)
def transaction_coordinator(evidence: Evidence) -> Iterator[CheckFinding]:
    """The coordinator of a transactional id is not reached.

    Cause: The coordinators of {subjects} cannot be reached.
    What: the coordinator of a transactional id is a node that this client cannot reach.
    Why: a hash of the id selects one node as coordinator, so everything else may work. Producers cannot begin a
    transaction: `initTransactions` times out.
    Remedy: follow the remedy of the node's own finding.
    """
    yield from _out_of_reach(evidence, "transaction")


@check("BN703", Need.METADATA, Need.COORDINATORS)
def no_coordinator(evidence: Evidence) -> Iterator[CheckFinding]:
    """There is no coordinator.

    Cause: No node coordinates {subjects}.
    What: a named group or transactional id has no coordinator, also when asked again after a second.
    Why: the partition that keeps its state has no leader, or its leader lacks the listener of the client's connection.
    Remedy: start the brokers that hold `__consumer_offsets` or `__transaction_state`; define the listener on them.
    """
    for each in evidence.coordinators:
        if each.error == "not-answered":
            message = "its coordinator is unknown: the connection ended or the time ran out before a response"
            yield warning(each.subject, message, client=_MORE_TIME)
        elif each.error and each.error != "not-asked" and not each.hidden:
            fix = f"check that every partition of `{each.topic}` has a leader with this listener"
            message = f"no node coordinates it; its state is in `{each.topic}`"
            yield error(each.subject, message, (f"the broker reports: {each.error}",), broker=fix)


def _out_of_reach(evidence: Evidence, kind: str) -> Iterator[CheckFinding]:
    """One finding for each coordinator of this kind that the client cannot use."""
    for each in evidence.coordinators:
        if each.kind != kind or each.broker is None:
            continue
        reason, failure = "it is not among the advertised brokers", None
        if path := next((path for path in evidence.paths if path.broker == each.broker), None):
            failure = path_failure(path, evidence)
            if failure is None or failure.doubt:
                continue
            reason = _barred(path, failure)
        message = f"its coordinator is node {each.broker.node_id} at {each.broker.endpoint}: {reason}"
        fix = f"make node {each.broker.node_id} reachable for clients, as the other nodes are"
        yield error(each.subject, message, broker=fix, follows=(failure,))


def _barred(path: BrokerPath, failure: Failure) -> str:
    if path.probe is None:
        lacks_rule = failure.words == "no rule"
        return "no rule of the address map matches it" if lacks_rule else "its endpoint cannot be dialled"
    if path.probe.node_id not in (None, path.broker.node_id):
        return f"node {path.probe.node_id} answers there"
    return unreachable(path.probe) or failure.words
