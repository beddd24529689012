"""`brokernat discover` as a person sees it: what was seen is made by hand, everything behind it is real."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.cli.conftest import Run
from tests.support.endpoint_probes import replace
from tests.unit.doctor.conftest import BROKERS, GATEWAY, WITHOUT_MAP, reached, refused, steady

from brokernat.address import Endpoint
from brokernat.cli.app import main
from brokernat.config import load
from brokernat.doctor.discovery import sweep as sweeping
from brokernat.doctor.discovery.matching import Swept
from brokernat.doctor.evidence import EndpointProbe

if TYPE_CHECKING:
    Seeing = Callable[..., None]

EVIDENCE = replace(WITHOUT_MAP, taken_at="2026-11-21T12:00:00+00:00", paths=())
RIGHT = [steady(reached(node, end)) for node, end in GATEWAY.items()]


@pytest.fixture
def seeing(monkeypatch: pytest.MonkeyPatch) -> Seeing:
    """Decides what the network would have shown."""

    def decide(candidates: Sequence[EndpointProbe], bootstraps: Sequence[EndpointProbe] = RIGHT[:1]) -> None:
        def sweep(cluster: object, endpoints: Sequence[Endpoint], *more: object) -> Swept:
            return Swept(replace(EVIDENCE, bootstraps=tuple(bootstraps)), tuple(candidates))

        monkeypatch.setattr(sweeping, "sweep", sweep)

    return decide


def test_the_whole_map_of_a_cluster_that_no_file_has(run: Run, seeing: Seeing, snapshot: SnapshotAssertion) -> None:
    seeing([*RIGHT, refused("172.10.1.40:9096")])
    assert (
        run("discover", "--bootstrap-server", "172.10.1.40:9093", "--candidates", "172.10.1.40:9093-9096") == snapshot
    )


def test_what_is_missing_is_said_and_nothing_is_written(
    run: Run, folder: Path, seeing: Seeing, snapshot: SnapshotAssertion
) -> None:
    before = (folder / "brokernat.yaml").read_bytes()
    other = replace(RIGHT[2], brokers=tuple(replace(each, port=9094) for each in BROKERS))
    seeing([*RIGHT[:2], other, replace(RIGHT[0], endpoint="172.10.1.40:9096", cluster_id="another")])
    assert run("discover", "--cluster", "hq", "--write", "--yes") == snapshot
    assert (folder / "brokernat.yaml").read_bytes() == before


def test_a_file_is_updated_with_its_difference_shown(
    run: Run, folder: Path, seeing: Seeing, snapshot: SnapshotAssertion
) -> None:
    seeing([RIGHT[1], RIGHT[0], replace(RIGHT[2], endpoint="172.10.1.40:9099")])
    (folder / "brokernat.yaml").chmod(0o640)
    assert run("discover", "--cluster", "hq", "--write", "--yes") == snapshot
    found = load(folder / "brokernat.yaml").cluster("hq").address_map
    assert [str(rule) for rule in found.rules if "192.168.1.25" in str(rule)] if found else []
    assert (folder / "brokernat.yaml").stat().st_mode & 0o777 == 0o640
    assert "already up to date" in run("discover", "--cluster", "hq", "--write", "--yes")


def test_a_link_stays_one(run: Run, folder: Path, seeing: Seeing) -> None:
    seeing(RIGHT)
    (folder / "brokernat.yaml").rename(folder / "real.yaml")
    (folder / "brokernat.yaml").symlink_to("real.yaml")
    assert run("discover", "--cluster", "hq", "--write", "--yes").startswith("exit 0\n")
    assert (folder / "brokernat.yaml").is_symlink()
    assert "192.168.1.25" in (folder / "real.yaml").read_text()
    assert sorted(file.name for file in folder.iterdir()) == ["brokernat.yaml", "password", "real.yaml"]


def test_what_cannot_be_edited_in_place_is_there_to_be_pasted(run: Run, folder: Path, seeing: Seeing) -> None:
    seeing(RIGHT)
    (folder / "brokernat.yaml").write_text('{"clusters": {"hq": {"bootstrap_servers": "172.10.1.40:9093"}}}')
    said = run("discover", "--write", "--yes")
    assert said.startswith("exit 2\n")
    assert "  - 192.168.1.25:9092 = 172.10.1.40:9095  #" in said
    assert "paste the printed lines" in said


def test_part_of_a_map_on_request(run: Run, folder: Path, seeing: Seeing) -> None:
    seeing(RIGHT[:2])
    said = run("discover", "--cluster", "hq", "--output", "rules", "--partial")
    assert said.startswith("exit 5\n")
    assert (folder / "rules").read_text().count(" = ") == 3  # the title is one
    assert run("map", "check", "--file", "rules").startswith("exit 0\n")


def test_a_rules_file_on_stdout(run: Run, seeing: Seeing, snapshot: SnapshotAssertion) -> None:
    seeing(RIGHT)
    assert run("discover", "--cluster", "hq", "--output", "-") == snapshot


def test_a_rules_file_is_updated(run: Run, folder: Path, seeing: Seeing) -> None:
    seeing(RIGHT)
    (folder / "rules").write_text("# mine\nother:1 = x:1\n192.168.1.23:9092 = gone:1  # rack 3\n")
    said = run("discover", "--cluster", "hq", "--output", "rules", "--yes")
    assert "-192.168.1.23:9092 = gone:1  # rack 3" in said
    text = (folder / "rules").read_text()
    assert text.startswith("# mine\nother:1 = x:1\n192.168.1.23:9092 = 172.10.1.40:9093  # rack 3; node 1, by ")
    assert run("map", "check", "--file", "rules").startswith("exit 0\n")


def test_something_else_than_rules_is_left_alone(run: Run, folder: Path, seeing: Seeing) -> None:
    seeing(RIGHT)
    (folder / "rules").write_text("clusters:\n")
    assert run("discover", "--cluster", "hq", "--output", "rules", "--yes").startswith("exit 2\n")
    assert (folder / "rules").read_text() == "clusters:\n"


@pytest.mark.parametrize(("answer", "changed"), [("y\n", True), ("n\n", False)])
def test_a_person_is_asked(
    run: Run, folder: Path, seeing: Seeing, monkeypatch: pytest.MonkeyPatch, answer: str, *, changed: bool
) -> None:
    seeing(RIGHT)
    monkeypatch.setattr("brokernat.cli.discover.can_ask", lambda: True)
    asked: list[str] = []

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return answer == "y\n"

    monkeypatch.setattr("click.confirm", confirm)
    before = (folder / "brokernat.yaml").read_bytes()
    run("discover", "--cluster", "hq", "--write")
    assert asked == ["write brokernat.yaml?"]
    assert ((folder / "brokernat.yaml").read_bytes() != before) is changed


def test_a_file_that_changed_in_between(
    run: Run, folder: Path, seeing: Seeing, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeing(RIGHT)
    monkeypatch.setattr("brokernat.cli.discover.can_ask", lambda: True)

    def confirm(*_: object, **__: object) -> bool:
        (folder / "brokernat.yaml").write_text("clusters: {}\n")
        return True

    monkeypatch.setattr("click.confirm", confirm)
    assert "another program has changed" in run("discover", "--cluster", "hq", "--write")
    assert (folder / "brokernat.yaml").read_text() == "clusters: {}\n"


WHILE_IT_LOOKED: dict[str, tuple[Callable[[str], str] | None, str, str]] = {
    "a-comment": (lambda text: text + "# mine\n", "exit 0\n", "brokernat.yaml: written"),
    "other-servers": (
        lambda text: text.replace("172.10.1.40:9093,", "172.10.1.41:9093,", 1),
        "exit 2\n",
        "the bootstrap servers of `hq` in `brokernat.yaml` have changed since the probe",
    ),
    "no-cluster": (lambda _: "clusters:\n  x:\n    bootstrap_servers: x:1\n", "exit 2\n", "there is no cluster `hq`"),
    "no-yaml": (lambda _: "clusters: [", "exit 2\n", "not YAML"),
    "no-rules": (lambda text: text.replace("- 192.168.1.23:9092 = ", "- a: "), "exit 2\n", "address_map[0]"),
    "no-file": (None, "exit 2\n", "brokernat.yaml"),
}


@pytest.mark.parametrize("change", WHILE_IT_LOOKED)
def test_a_file_that_is_edited_while_the_network_is_looked_at(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    edit, code, words = WHILE_IT_LOOKED[change]
    file = folder / "brokernat.yaml"
    changed = None if edit is None else edit(file.read_text())

    def sweep(*_: object) -> Swept:
        file.unlink() if changed is None else file.write_text(changed)
        return Swept(replace(EVIDENCE, bootstraps=tuple(RIGHT[:1])), tuple(RIGHT))

    monkeypatch.setattr(sweeping, "sweep", sweep)
    said = run("discover", "--cluster", "hq", "--write", "--yes")
    assert said.startswith(code)
    assert words in said
    assert "internal error" not in said
    if code == "exit 0\n":
        assert file.read_text().endswith("# mine\n")
        assert "192.168.1.25:9092 = 172.10.1.40:9095" in file.read_text()
    elif changed is not None:
        assert file.read_text() == changed


def test_several_at_once_for_one_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its map in the end: nobody's change is written over."""
    names = [f"c{number}" for number in range(8)]
    sections = "".join(f"  {name}:\n    bootstrap_servers: 172.10.1.40:9093   # {name}\n" for name in names)
    (folder / "brokernat.yaml").write_text(f"clusters:\n{sections}")
    together = threading.Barrier(len(names))

    def sweep(*_: object) -> Swept:
        together.wait(60)
        return Swept(replace(EVIDENCE, bootstraps=tuple(RIGHT[:1])), tuple(RIGHT))

    monkeypatch.setattr(sweeping, "sweep", sweep)
    with ThreadPoolExecutor(len(names)) as pool:
        codes = list(pool.map(lambda name: main(["discover", "--cluster", name, "--write", "--yes"]), names))
    assert codes == [0] * len(names)
    clusters = load(folder / "brokernat.yaml").clusters
    assert [len(each.address_map.rules) for each in clusters.values() if each.address_map] == [3] * len(names)
    text = (folder / "brokernat.yaml").read_text()
    assert text.count("192.168.1.25:9092 = ") == len(names)
    assert all(f"   # {name}\n" in text for name in names)


def test_what_is_no_ordinary_file_is_not_updated(run: Run, seeing: Seeing) -> None:
    seeing(RIGHT)
    said = run("discover", "--cluster", "hq", "--output", "/dev/null", "--yes")
    assert said.startswith("exit 2\n")
    assert "`/dev/null` is not a regular file" in said


def test_a_narrow_terminal(
    run: Run, seeing: Seeing, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    seeing(RIGHT[:2])
    assert run("discover", "--cluster", "hq", "--output", "-") == snapshot


def test_a_terminal_obeys_nothing_that_a_broker_says(run: Run, seeing: Seeing) -> None:
    evil = "\x1b[2J\x9b1m"
    settings = (("advertised.listeners", f"{evil}://192.168.1.23:9092"),)
    bootstrap = replace(RIGHT[0], settings=settings, cluster_id=evil)
    seeing([replace(probe, cluster_id=evil) for probe in RIGHT[:2]], [bootstrap])
    for output in ("text", "json"):
        said = run("discover", "--cluster", "hq", "--format", output)
        assert "[2J" in said
        assert all(each.isprintable() or each == "\n" for each in said)


def test_a_cluster_that_names_no_broker(run: Run, seeing: Seeing) -> None:
    seeing([], [replace(RIGHT[0], brokers=())])
    said = run("discover", "--cluster", "hq")
    assert said.startswith("exit 5\n")
    assert "lists no broker" in said


def test_host_to_host(run: Run, seeing: Seeing, snapshot: SnapshotAssertion) -> None:
    seeing([replace(probe, endpoint=f"10.9.0.{22 + node}:9092") for node, probe in enumerate(RIGHT, 1)])
    arguments = ("discover", "--bootstrap-server", "10.9.0.23:9092", "--candidates", "10.9.0.0/27:9092")
    assert run(*arguments) == snapshot
    assert "192.168.1.23:9092 = 10.9.0.23:9092" in run(*arguments, "--port-rules")


def test_no_map_is_needed(run: Run, seeing: Seeing, snapshot: SnapshotAssertion) -> None:
    seeing([replace(probe, endpoint=BROKERS[node].endpoint) for node, probe in enumerate(RIGHT)])
    assert run("discover", "--cluster", "hq", "--write", "--yes") == snapshot


def test_nothing_answers(run: Run, snapshot: SnapshotAssertion) -> None:
    assert run("discover", "--bootstrap-server", "127.0.0.1:1", "--candidates", "127.0.0.1:1-3") == snapshot


def test_for_programs(run: Run, seeing: Seeing) -> None:
    seeing([*RIGHT[:2], refused("172.10.1.40:9096")])
    said = run("discover", "--cluster", "hq", "--format", "json")
    assert said.startswith("exit 5\n")
    told = json.loads(said.partition("--- stdout\n")[2].partition("--- stderr")[0])
    assert told["whole"] is False
    assert told["missing"] == [{"node_id": 3, "advertised": "192.168.1.25:9092"}]
    assert told["entries"][0] == {
        "node_id": 1,
        "advertised": "192.168.1.23:9092",
        "candidate": "172.10.1.40:9093",
        "method": "describeconfigs",
        "confidence": "proven",
        "connections": 17,
    }
    assert told["one_source"] is False
    assert [finding["code"] for finding in told["findings"]] == ["BN605"]
    assert told["other_candidates"] == {"refused": 1}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--write"],
        ["--cluster", "hq", "--write"],
        ["--cluster", "hq", "--output", "brokernat.yaml"],
        ["--cluster", "hq", "--write", "--output", "x"],
        ["--bootstrap-server", "a:1", "--write"],
        ["--cluster", "hq", "--output", "-", "--format", "json"],
        ["--cluster", "hq", "--candidates", "gateway"],
        ["--cluster", "hq", "--scan", "a:1,b:1"],
        ["--cluster", "none"],
        ["--config", "none.yaml"],
        ["--cluster", "hq", "--timeout", "nan"],
    ],
    ids=" ".join,
)
def test_said_wrong(run: Run, snapshot: SnapshotAssertion, arguments: list[str]) -> None:
    assert run("discover", *arguments) == snapshot


def test_whole_internets_and_addresses_of_one_machine_are_refused_unseen(run: Run) -> None:
    said = run("discover", "--cluster", "hq", "--candidates", "0.0.0.0/0:9092,[::/0]:9092,[fe80::1%eth0]:9092")
    assert said.startswith("exit 2\n")
    assert "`0.0.0.0/0:9092` would be 4294967296 endpoints" in said
    assert f"`[::/0]:9092` would be {2**128} endpoints" in said
    assert "write an IPv6 address in brackets, without a zone" in said
    assert "3 problems" in said


def test_a_login_by_token_takes_a_command(run: Run, folder: Path) -> None:
    (folder / "token.yaml").write_text(
        "clusters:\n  hq:\n    bootstrap_servers: 127.0.0.1:1\n"
        "    client: {security.protocol: SASL_PLAINTEXT, sasl.mechanism: OAUTHBEARER}\n"
    )
    said = run("discover", "--config", "token.yaml", "--token-command", "false")
    assert said.startswith("exit 2\n")
    assert "`--token-command` ended with status 1" in said


def test_the_first_file_is_written_where_there_is_none(
    run: Run, folder: Path, seeing: Seeing, snapshot: SnapshotAssertion
) -> None:
    seeing(RIGHT)
    (folder / "brokernat.yaml").unlink()
    words = ("discover", "-b", "172.10.1.40:9093", "--candidates", "172.10.1.40:9093-9095", "--write")
    assert run(*words) == snapshot
    assert (folder / "brokernat.yaml").read_text() == snapshot
    assert run("config", "check", "--fail-on", "warning").startswith("exit 0\n")
    said = run(*words)
    assert said.startswith("exit 2\n")
    assert "`brokernat.yaml` exists" in said


def test_the_first_file_has_the_login_of_kafkas_own_file_without_its_secrets(
    run: Run, folder: Path, seeing: Seeing, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeing(RIGHT)
    (folder / "brokernat.yaml").unlink()
    (folder / "client.properties").write_text(
        "bootstrap.servers=172.10.1.40:9093\nsecurity.protocol=sasl_ssl\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        ' username="me" password="canary";\nssl.truststore.location=/etc/trust.pem\nssl.truststore.password=canary\n'
    )
    said = run("discover", "--command-config", "client.properties", "--write")
    assert said.startswith("exit 0\n")
    assert "set HQ_SSL_TRUSTSTORE_PASSWORD, HQ_PASSWORD in the environment" in said
    assert "canary" not in (folder / "brokernat.yaml").read_text()
    monkeypatch.setenv("HQ_PASSWORD", "canary")
    monkeypatch.setenv("HQ_SSL_TRUSTSTORE_PASSWORD", "other")
    hq = load(folder / "brokernat.yaml").cluster("hq")
    assert hq.client["security.protocol"] == "SASL_SSL"
    assert 'username="me" password="canary"' in hq.kafka_properties()["sasl.jaas.config"]


def test_mixed_bootstrap_servers_of_the_file_are_not_given_a_map_that_fits_one(
    run: Run, folder: Path, seeing: Seeing
) -> None:
    before = (folder / "brokernat.yaml").read_bytes()
    other = replace(RIGHT[1], brokers=tuple(replace(each, port=9094) for each in BROKERS))
    seeing(RIGHT, [RIGHT[0], other])
    said = run("discover", "--cluster", "hq", "--write", "--yes")
    assert said.startswith("exit 5\n")
    assert f"hint: write `bootstrap_servers: {RIGHT[0].endpoint}`" in said
    assert (folder / "brokernat.yaml").read_bytes() == before
    (folder / "brokernat.yaml").unlink()
    said = run("discover", "172.10.1.40:9093", "172.10.1.40:9094", "--write")
    assert said.startswith("exit 5\n")
    assert f"    bootstrap_servers: {RIGHT[0].endpoint}\n" in said
    assert load(folder / "brokernat.yaml").cluster("hq").bootstrap_servers == (Endpoint("172.10.1.40", 9093),)


def test_a_balancer_that_this_machine_cannot_see_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = Swept(replace(EVIDENCE, bootstraps=tuple(RIGHT[:1])), tuple(RIGHT), one_source=True)
    monkeypatch.setattr(sweeping, "sweep", lambda *_: swept)
    said = run("discover", "--cluster", "hq")
    words = "a load balancer that chooses by the client's address cannot be detected from this machine"
    assert words in " ".join(said.split())


def test_a_cluster_that_needs_no_map_is_reported_beside_rules_on_stdout(run: Run, seeing: Seeing) -> None:
    own = [steady(reached(each.node_id, each.endpoint)) for each in BROKERS]
    seeing(own, own[:1])
    said = run("discover", "--bootstrap-server", f"{BROKERS[0].endpoint}, ,", "--output", "-")
    assert "every advertised endpoint can be dialled: no map is needed" in said
