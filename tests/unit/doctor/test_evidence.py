"""What was seen, through a file and back."""

import json
from dataclasses import replace

import pytest
from tests.support.endpoint_probes import probed
from tests.unit.doctor.conftest import BROKERS, WITHOUT_MAP, mapped

from brokernat.doctor.evidence import BrokerFile, BrokerPath, EndpointProbe, Evidence, from_json, to_json
from brokernat.errors import ConfigError


def test_a_file_gives_the_same_evidence() -> None:
    for evidence in (WITHOUT_MAP, mapped({1: 1, 2: 2})):
        assert from_json(to_json(evidence), "file") == evidence


@pytest.mark.parametrize("text", ["", "{}", "[1]", to_json(WITHOUT_MAP).replace('"version": 3', '"version": 4')])
def test_another_file_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match="`evidence"):
        from_json(text, "evidence.json")


def _seen_at(probe: EndpointProbe) -> Evidence:
    return replace(WITHOUT_MAP, paths=(BrokerPath(BROKERS[0], probe),))


@pytest.mark.parametrize(
    ("evidence", "named"),
    [
        (_seen_at(probed("::1")), "paths.0.probe.endpoint: endpoint `::1`"),
        (_seen_at(probed("a:1", rule="a")), "paths.0.probe.rule: "),
        (_seen_at(probed("a:1", addresses=("10.0.0.1", "a"))), "paths.0.probe.resolve.addresses.1: "),
        (replace(WITHOUT_MAP, as_written=(probed("a"),)), "as_written.0.endpoint: "),
        (replace(WITHOUT_MAP, paths=(BrokerPath(BROKERS[0], None, "a=b,c"),)), "paths.0.rule: "),
        (replace(WITHOUT_MAP, rules=("a=b", "a:1=b")), "rules.1: "),
    ],
)
def test_what_no_probe_writes_is_refused_at_its_place(evidence: Evidence, named: str) -> None:
    with pytest.raises(ConfigError) as refused:
        from_json(to_json(evidence), "evidence.json")
    (problem,) = refused.value.problems
    assert problem.details[0].startswith(named)


def test_what_an_earlier_release_has_saved_of_a_compose_file_is_read() -> None:
    file = BrokerFile("c.yml kafka", (("node.id", "1"),), ((9092, 9092),), names=("kafka",))
    saved = json.loads(to_json(Evidence.without_network("files", files=(file,))))
    later = ("others_ports", "zookeepers", "cluster_id")
    (known,) = saved["files"]
    saved["files"] = [{name: value for name, value in known.items() if name not in later} | {"others_publish": True}]
    assert from_json(json.dumps(saved), "evidence.json").files == (file,)
