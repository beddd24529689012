"""The probes against real brokers: each login, each way to tell a node, key stores, controllers and coordinators.

The strict world has an authorizer that gives its user one topic to look at and nothing else.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from brokernat.address import AddressMap
from brokernat.config import Cluster, Secret
from brokernat.doctor.collecting import collect
from brokernat.doctor.evidence import Coordinator, from_json, to_json
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.channel import Channel
from brokernat.doctor.probes.coordinators import coordinator
from brokernat.doctor.probes.dialling import connect
from brokernat.doctor.runner import diagnose
from brokernat.doctor.stores import own_certificate
from brokernat.errors import ConfigError
from brokernat.jvm import find_java
from brokernat.testbed import (
    Allow,
    ClusterOptions,
    Listener,
    LoopbackWorld,
    Mechanism,
    Operation,
    Protocol,
    Resource,
    Topic,
)
from brokernat.testbed.polling import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.integration.doctor.scene import Scene

    from brokernat.doctor.evidence import Evidence, Look
    from brokernat.testbed import RunningCluster

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

TIMEOUT = 60
PASSWORD = "canary-3e77"
_BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"


@pytest.fixture(scope="module")
def strict() -> Iterator[RunningCluster]:
    """Two brokers with SCRAM-SHA-512 and OAUTHBEARER, each the leader of a partition that everybody may describe."""
    options = ClusterOptions(
        brokers=2,
        protocol=Protocol.SASL_PLAINTEXT,
        mechanism=Mechanism.SCRAM_SHA_512,
        password=PASSWORD,
        authorize=True,
        listeners=(Listener("PART", Protocol.PLAINTEXT, nodes=(1,)), Listener("TLS", Protocol.SASL_SSL)),
        broker_properties={
            "sasl.enabled.mechanisms": "SCRAM-SHA-512,OAUTHBEARER",
            "listener.name.client.oauthbearer.sasl.jaas.config": _BEARER,
            "listener.name.tls.oauthbearer.sasl.jaas.config": _BEARER,
        },
    )
    with LoopbackWorld(hq=options, local=None) as world:
        world.hq.create_topics([Topic("orders", partitions=2)])
        world.hq.allow(Allow(Operation.DESCRIBE, name="orders"))
        yield world.hq


def seen(
    cluster: Cluster,
    *,
    groups: tuple[str, ...] = (),
    transactional_ids: tuple[str, ...] = (),
    token_command: str | None = None,
) -> Evidence:
    """Also through a file, which holds no secret."""
    found = collect(cluster, TIMEOUT, groups=groups, transactional_ids=transactional_ids, token_command=token_command)
    saved = to_json(found)
    assert PASSWORD not in saved
    return from_json(saved, "saved")


def problems(evidence: Evidence) -> set[str]:
    return {each.code for each in diagnose(evidence).findings if each.severity is not Severity.INFO}


def changed(cluster: Cluster, client: Mapping[str, str | Secret]) -> Cluster:
    return replace(cluster, client={**cluster.client, **client})


def nodes(evidence: Evidence) -> dict[int, Look]:
    return {path.broker.node_id: path.look for path in evidence.paths if path.look is not None}


def test_without_a_right_a_node_is_told_by_what_it_leads(strict: RunningCluster) -> None:
    before = {node: strict.log(node).read_text().count("Unexpected broker id") for node in strict.nodes}
    evidence = seen(strict.cluster)
    assert problems(evidence) == set()
    found = {node: look.identity for node, look in nodes(evidence).items()}
    assert {node: identity and identity.node_id for node, identity in found.items()} == {1: 1, 2: 2}
    for identity in found.values():
        assert identity is not None
        assert (identity.method, identity.confidence) == ("listoffsets", "likely")
        assert identity.detail == "cluster_authorization_failed"
    assert {node: strict.log(node).read_text().count("Unexpected broker id") for node in strict.nodes} == before


def test_exchanged_forwards_are_found_by_leadership(strict: RunningCluster) -> None:
    rules = ",".join(f"{strict.advertised[node]}={strict.reachable[3 - node]}" for node in strict.nodes)
    found = diagnose(seen(replace(strict.cluster, address_map=AddressMap.parse(rules))))
    assert {(each.code, each.confidence) for each in found.findings if each.severity is Severity.ERROR} == {
        ("BN601", "likely")
    }


def bearer(lifetime: int, user: str = "app") -> str:
    """An unsecured token (RFC 7519, 6), which the brokers' own validator takes."""
    now = int(time.time())
    parts = {"alg": "none"}, {"sub": user, "iat": now - 60, "exp": now + lifetime}
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def test_a_token_comes_from_a_command_or_a_file(strict: RunningCluster, tmp_path: Path) -> None:
    file = tmp_path / "token"
    by_token = changed(strict.cluster, {"sasl.mechanism": "OAUTHBEARER"})
    by_file = changed(by_token, {"sasl.oauthbearer.token.endpoint.url": file.as_uri()})

    file.write_text(bearer(3600))
    for evidence in (seen(by_token, token_command=f"cat {file}"), seen(by_file)):
        assert problems(evidence) == set()
        assert bearer(3600).split(".")[0] not in to_json(evidence)

    file.write_text(bearer(-30))
    refused = diagnose(seen(by_file))
    assert {each.code for each in refused.findings} == {"BN404"}
    assert refused.findings[0].message == "the token is refused"

    untried = diagnose(seen(by_token))
    assert {(each.code, each.severity) for each in untried.findings} == {("BN404", Severity.WARNING)}
    assert "--token-command" in untried.findings[0].message
    with pytest.raises(ConfigError, match="ended with status 1"):
        seen(by_token, token_command="false")


def test_a_user_without_any_right_is_left_with_certificates(strict: RunningCluster) -> None:
    guest = f"echo {bearer(3600, 'guest')}"
    by_token = {"sasl.mechanism": "OAUTHBEARER"}
    by_certificate = seen(changed(strict.through("TLS"), by_token), token_command=guest)
    assert problems(by_certificate) == set()
    found = {node: look.identity for node, look in nodes(by_certificate).items()}
    assert {node: identity and (identity.node_id, identity.method) for node, identity in found.items()} == {
        node: (node, "certificate") for node in strict.nodes
    }
    plain = diagnose(seen(changed(strict.cluster, by_token), token_command=guest))
    assert [each.code for each in plain.findings if each.severity is Severity.WARNING] == ["BN604", "BN604"]
    assert "--operation DescribeConfigs --cluster" in plain.findings[0].remedy.broker[0]


def test_kerberos_is_said_not_to_be_tried(strict: RunningCluster) -> None:
    offered = diagnose(seen(changed(strict.cluster, {"sasl.mechanism": "GSSAPI"})))
    assert {each.code for each in offered.findings} == {"BN404"}
    assert offered.findings[0].evidence == ("offered: SCRAM-SHA-512, OAUTHBEARER",)


def ask_as_clients_do(cluster: RunningCluster, wanted: Coordinator) -> int:
    """The coordinator of a group or id; like a client's question, this one makes Kafka create the topic behind it."""

    async def ask() -> Coordinator:
        _, streams = await connect(cluster.plan.broker(1).peer.host, cluster.plan.broker(1).peer.port, TIMEOUT)
        assert streams is not None
        channel = Channel(*streams, TIMEOUT)
        try:
            return await coordinator(channel, wanted, {wanted.topic})
        finally:
            await channel.close()

    found: list[int] = []

    def known() -> bool:
        broker = asyncio.run(ask()).broker
        found.extend([] if broker is None else [broker.node_id])
        return bool(found)

    wait_until(known, "a coordinator", timeout=TIMEOUT)
    return found[0]


@pytest.mark.parametrize(
    ("wanted", "resource", "code"),
    [
        (Coordinator("group", "app"), Resource.GROUP, "BN701"),
        (Coordinator("transaction", "app"), Resource.TRANSACTIONAL_ID, "BN702"),
    ],
    ids=["group", "transaction"],
)
def test_the_coordinator_is_a_node_to_reach(
    strict: RunningCluster, wanted: Coordinator, resource: Resource, code: str
) -> None:
    def asked(cluster: Cluster) -> Evidence:
        if wanted.kind == "group":
            return seen(cluster, groups=(wanted.key,))
        return seen(cluster, transactional_ids=(wanted.key,))

    strict.allow(Allow(Operation.DESCRIBE, name=wanted.topic))
    unseen = asked(strict.cluster)
    assert unseen.coordinators == (replace(wanted, error="not-asked"),)
    assert {each.code: each.reason for each in diagnose(unseen).skipped}[code].startswith("this user sees no `__")

    node = ask_as_clients_do(strict, wanted)
    forbidden = diagnose(asked(strict.cluster))
    assert {each.code for each in forbidden.findings} == {"BN003", "BN304"}

    strict.allow(Allow(Operation.DESCRIBE, resource, wanted.key))
    reached = asked(strict.cluster)
    assert problems(reached) == set()
    assert [each.broker and each.broker.node_id for each in reached.coordinators] == [node]

    other = 3 - node
    rules = AddressMap.parse(f"{strict.advertised[other]}={strict.reachable[other]}")
    missing = diagnose(asked(replace(strict.cluster, address_map=rules)))
    assert {each.code for each in missing.findings if each.severity is Severity.ERROR} == {"BN605", code}
    assert missing.cause is not None
    assert missing.cause.code == "BN605"


def test_partitions_of_a_broker_that_lacks_the_listener(strict: RunningCluster) -> None:
    found = diagnose(seen(strict.through("PART")))
    errors = {each.code: each for each in found.findings if each.severity is Severity.ERROR}
    assert errors.keys() == {"BN503", "BN504"}
    assert "LISTENER_NOT_FOUND" in errors["BN504"].message
    assert found.cause is not None
    assert found.cause.code == "BN503"


@pytest.mark.parametrize("kind", ["JKS", "PEM", "texts"])
def test_a_key_store_of_any_kind_is_shown_to_the_broker(doctor_scene: Scene, kind: str, tmp_path: Path) -> None:
    mutual = doctor_scene.local.through("MUTUAL")
    others = {name: value for name, value in mutual.client.items() if not name.startswith("ssl.key")}
    assert problems(seen(replace(mutual, client=others))) == {"BN405"}
    assert problems(seen(replace(mutual, client=others | key_store(mutual, kind, tmp_path)))) == set()


def test_a_key_store_with_another_password_says_what_to_do(doctor_scene: Scene) -> None:
    wrong = changed(doctor_scene.local.through("MUTUAL"), {"ssl.keystore.password": Secret("canary-of-a-store")})
    with pytest.raises(ConfigError, match=r"key store .* cannot be read") as failed:
        seen(wrong)
    assert "canary" not in failed.value.report()
    assert "`ssl.keystore.type: PEM`" in (failed.value.hint or "")


def key_store(cluster: Cluster, kind: str, folder: Path) -> dict[str, str]:
    """The client's key in another form, as properties."""
    properties = cluster.kafka_properties()
    location, password = properties["ssl.keystore.location"], properties["ssl.keystore.password"]
    if kind == "JKS":
        file = folder / "client.jks"
        options = f"-srckeystore {location} -srcstorepass {password} -deststorepass {password} -deststoretype JKS"
        keytool = find_java().home / "bin" / "keytool"
        subprocess.run([keytool, "-importkeystore", *options.split(), "-destkeystore", file], check=True)
        return {"ssl.keystore.location": str(file), "ssl.keystore.password": password}
    with own_certificate(properties) as own:
        assert own is not None
        pem = Path(own.file).read_text()
    if kind == "PEM":
        (folder / "client.pem").write_text(pem)
        return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(folder / "client.pem")}
    key, begin, chain = pem.partition("-----BEGIN CERTIFICATE-----")
    return {"ssl.keystore.type": "PEM", "ssl.keystore.key": key, "ssl.keystore.certificate.chain": begin + chain}
