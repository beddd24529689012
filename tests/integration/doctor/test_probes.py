"""The probes against real brokers: each login, each way to tell a node, key stores.

The strict world has an authorizer that gives its user one topic to look at and nothing else.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.doctor.bearer import bearer
from tests.integration.doctor.looking import TIMEOUT, looked_at, problems
from tests.integration.doctor.scene import Scene
from tests.support.odd_certificates import with_certificate

from brokernat.address import AddressMap
from brokernat.clients.tls import own_certificate
from brokernat.config import Cluster, Secret
from brokernat.doctor.credentials import client_side
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import EndpointProbe, Evidence, Transfer, to_json
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.channel import Channel
from brokernat.doctor.probes.size import each_direction
from brokernat.doctor.probes.walk import Prober
from brokernat.errors import ConfigError
from brokernat.jvm import find_java
from brokernat.testbed import RunningCluster

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]


def changed(cluster: Cluster, client: Mapping[str, str | Secret]) -> Cluster:
    return replace(cluster, client={**cluster.client, **client})


def nodes(evidence: Evidence) -> dict[int, EndpointProbe]:
    return {path.broker.node_id: path.probe for path in evidence.paths if path.probe is not None}


def test_without_a_right_a_node_is_told_by_what_it_leads(strict: RunningCluster) -> None:
    before = {node: strict.log(node).read_text().count("Unexpected broker id") for node in strict.nodes}
    evidence = looked_at(strict.cluster)
    assert problems(evidence) == set()
    found = {node: probe.identity for node, probe in nodes(evidence).items()}
    assert {node: identity and identity.node_id for node, identity in found.items()} == {1: 1, 2: 2}
    for identity in found.values():
        assert identity is not None
        assert (identity.method, identity.confidence) == ("listoffsets", "likely")
        assert identity.detail == "cluster_authorization_failed"
    assert {node: strict.log(node).read_text().count("Unexpected broker id") for node in strict.nodes} == before


def test_large_messages_pass_in_either_direction_whatever_the_user_may_do(
    strict: RunningCluster, doctor_scene: Scene
) -> None:
    """Of 3.9, 4.3 and 4.4; on the first of these clusters the user may describe one topic and nothing else."""

    async def transfers(cluster: RunningCluster) -> list[tuple[Transfer, ...]]:
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        prober = Prober(client_side(cluster.cluster), TIMEOUT / 4, deadline, asyncio.Semaphore(1))
        end = next(iter(cluster.reachable.values()))
        probe = await prober.probe(end)
        assert probe.size is not None

        @asynccontextmanager
        async def another() -> AsyncIterator[Channel | None]:
            async with prober.channel(probe) as (channel, _):
                yield channel

        return [probe.size.transfers, await each_direction(another, TIMEOUT / 4)]

    for cluster in (strict, doctor_scene.hq2, doctor_scene.local, doctor_scene.hq):
        together, alone = asyncio.run(transfers(cluster))
        assert [(each.direction, each.outcome, each.size > 8192) for each in together] == [
            ("request", "ok", True),
            ("answer", "ok", True),
        ]
        assert [(each.direction, each.outcome) for each in alone] == [
            ("request", "ok"),
            ("request", "ok"),
            ("answer", "ok"),
            ("answer", "ok"),
        ]
        assert [each.received >= each.size for each in alone if each.direction == "answer"] == [True, True]
        assert all(each.received < 1500 for each in alone if each.direction == "request")


def test_exchanged_forwards_are_found_by_leadership(strict: RunningCluster) -> None:
    rules = ",".join(f"{strict.advertised[node]}={strict.reachable[3 - node]}" for node in strict.nodes)
    found = diagnose(looked_at(replace(strict.cluster, address_map=AddressMap.parse(rules))))
    assert {(each.code, each.confidence) for each in found.findings if each.severity is Severity.ERROR} == {
        ("BN601", "likely")
    }


def test_a_token_comes_from_a_command_or_a_file(strict: RunningCluster, tmp_path: Path) -> None:
    file = tmp_path / "token"
    by_token = changed(strict.cluster, {"sasl.mechanism": "OAUTHBEARER"})
    by_file = changed(by_token, {"sasl.oauthbearer.token.endpoint.url": file.as_uri()})

    file.write_text(bearer(3600))
    for evidence in (looked_at(by_token, token_command=f"cat {file}"), looked_at(by_file)):
        assert problems(evidence) == set()
        assert bearer(3600).split(".")[0] not in to_json(evidence)

    file.write_text(bearer(-30))
    refused = diagnose(looked_at(by_file))
    assert {each.code for each in refused.findings} == {"BN404"}
    assert refused.findings[0].message == "the token is rejected"

    untried = diagnose(looked_at(by_token))
    assert {(each.code, each.severity) for each in untried.findings} == {("BN404", Severity.WARNING)}
    assert "--token-command" in untried.findings[0].message
    with pytest.raises(ConfigError, match="ended with status 1"):
        looked_at(by_token, token_command="false")


def test_a_user_without_any_right_is_left_with_certificates(strict: RunningCluster) -> None:
    guest = f"echo {bearer(3600, 'guest')}"
    by_token = {"sasl.mechanism": "OAUTHBEARER"}
    by_certificate = looked_at(changed(strict.through("TLS"), by_token), token_command=guest)
    assert problems(by_certificate) == set()
    found = {node: probe.identity for node, probe in nodes(by_certificate).items()}
    assert {node: identity and (identity.node_id, identity.method) for node, identity in found.items()} == {
        node: (node, "certificate") for node in strict.nodes
    }
    plain = diagnose(looked_at(changed(strict.cluster, by_token), token_command=guest))
    assert [each.code for each in plain.findings if each.severity is Severity.WARNING] == ["BN604", "BN604"]
    assert "--operation DescribeConfigs --cluster" in plain.findings[0].remedy.broker[0]


def test_kerberos_is_said_not_to_be_tried(strict: RunningCluster) -> None:
    offered = diagnose(looked_at(changed(strict.cluster, {"sasl.mechanism": "GSSAPI"})))
    # The map is for addresses, which have no tickets.
    assert {each.code for each in offered.findings} == {"BN404", "BN406"}
    assert offered.findings[0].details == ("offered: SCRAM-SHA-512, OAUTHBEARER",)


@pytest.mark.parametrize("kind", ["JKS", "PEM", "texts"])
def test_a_key_store_of_any_kind_is_shown_to_the_broker(doctor_scene: Scene, kind: str, tmp_path: Path) -> None:
    mutual = with_certificate(doctor_scene.local)
    others = {name: value for name, value in mutual.client.items() if not name.startswith("ssl.key")}
    assert problems(looked_at(replace(mutual, client=others))) == {"BN405"}
    assert problems(looked_at(replace(mutual, client=others | key_store(mutual, kind, tmp_path)))) == set()


def test_a_key_store_with_another_password_says_what_to_do(doctor_scene: Scene) -> None:
    wrong = changed(with_certificate(doctor_scene.local), {"ssl.keystore.password": Secret("canary-of-a-store")})
    with pytest.raises(ConfigError, match=r"key store .* cannot be read") as failed:
        looked_at(wrong)
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
