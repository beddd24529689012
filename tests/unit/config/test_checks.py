"""Checks between sections find their problems where other parts of the file are wrong."""

import json
from pathlib import Path

import pytest

from brokernat.config import load
from brokernat.config.checks import MISPLACED_REFERENCE, check
from brokernat.config.document import parse_document
from brokernat.config.lint import lint_config
from brokernat.config.load import read_document
from brokernat.errors import ConfigError


def kinds(text: str) -> list[str]:
    return [problem.code for problem in check(parse_document(text, "f"))]


def joined(record: str, key: str, reference: str | None = None, *, before: str | None = "") -> str:
    """A pipeline with a join, and one `before` it by `a`; None is a reference whose columns are not in the file."""
    schemas = {"r": reference, **({} if before == "" else {"q": before})}
    references = {
        name: {"path": "x", **({} if schema is None else {"schema": schema})} for name, schema in schemas.items()
    }
    joins = [{"reference": name, "key": "a" if name == "q" else key} for name in sorted(schemas)]
    return json.dumps({"pipelines": {"t": {"decode": {"schema": record}, "enrich": joins, "references": references}}})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("clusters: 7\npipelines: {t: {source: {cluster: hq}}}", ["unknown-cluster"]),
        ("clusters: {hq: 7}\npipelines: {t: {source: {cluster: hq}, sink: 7}}", []),
        ("pipelines: {t: {enrich: [{reference: x}, 7, {}], references: []}}", ["unknown-reference"]),
        ("pipelines: {t: {enrich: 7, references: {x: 7}}}", []),
        ("pipelines: [7]", []),
        ("clusters: {hq: {address_map: [7], broker_nat: {}}}", ["two-maps"]),
        ("clusters: {hq: {address_map: , broker_nat: a:1}}", ["empty"]),
        ("clusters: {hq: {bootstrap_servers: 'a:1, b:1', broker_nat: [c:1], client: 7}}", ["unpaired"]),
        ("clusters: {hq: {bootstrap_servers: [a:1, b], broker_nat: 'c:1,'}}", []),
        ("clusters: {hq: {bootstrap_servers: 7, broker_nat: {}}}", []),
        ("pipelines: {t: {source: {topics: x}, sink: {topic: x, dead_letters: x}}}", ["same-topic"]),
        ("pipelines: {t: {mode: realtime, trigger_interval: 1 second}}", ["other-mode"]),
        (
            "pipelines: {t: {mode: realtime, source: {max_offsets_per_trigger: 7, min_partitions: 7}}}",
            ["other-mode"] * 2,
        ),
        ("pipelines: {t: {mode: realtime, references: {r: {refresh: every_batch}}}}", ["other-mode"]),
        ("pipelines: {t: {mode: realtime, epoch: 9 seconds, references: {r: {refresh: every_epoch}}}}", []),
        ("pipelines: {t: {epoch: 9 seconds, references: {r: {refresh: every_epoch}}}}", ["other-mode"] * 2),
        ("pipelines: {t: {mode: 7, references: 7, source: 7}}", []),
        ("clusters: {hq: 7}\npipelines: {t: {references: {r: {kafka: {cluster: hq}}, s: {kafka: 7}}}}", []),
        ("clusters: {hq: 7}\npipelines: {t: {references: {r: {kafka: {cluster: hk}}}}}", ["unknown-cluster"]),
        ("shipping: {a: {spool: s}, b: {spool: ./x/../s}, c: {spool: t}, d: 7, e: {spool: 7}}", ["same-spool"]),
        ("shipping: {status: {}, statuses: {}}", ["reserved-name"]),
        ("pipelines: {a: {checkpoint: s}, b: {checkpoint: ./x/../s}, c: {checkpoint: t}, d: 7}", ["same-checkpoint"]),
        ("pipelines: {a: {checkpoint: 's3://b/s'}, b: {checkpoint: 's3://b/s/'}}", ["same-checkpoint"]),
        ("clusters: {'': 7, hq: 7}\npipelines: {' ': 7}\nshipping: {\"a\\nb\": 7, ä b: 7}", ["bad-name"] * 3),
        ("clusters: {hq: {bootstrap_servers: '${env:A}', address_map: ['${env:A}:1=b:1']}}", [MISPLACED_REFERENCE] * 2),
        ("clusters: {hq: {client: {acks: '${env:A}'}}}", []),
        ("pipelines: {t: {references: {r: {jdbc: {url: '${env:A}', options: {a: '${file:b}'}}}}}}", []),
        ("pipelines: {t: {decode: {registry: {client: {a: '${env:A}'}}}, checkpoint: '$${env:A}'}}", []),
        ("7", []),
        # A key of a join: in the record's columns and those that earlier joins add, as far as the file has them.
        (joined("a STRING, `b c` INT", "A"), []),
        (joined("a STRING, `b c` INT", "b c"), []),
        (joined("a STRING", "b"), ["unknown-column"]),
        (joined("a STRING", "a", "x STRING"), ["unknown-column"]),
        (joined("a STRING", "b", "x STRING"), ["unknown-column"] * 2),
        (joined("a STRING", "b", "b STRING", before="a STRING, b STRING"), []),
        (joined("a STRING", "b", "b STRING", before=None), []),
        ("pipelines: {t: {decode: {schema: 7}, enrich: [{reference: r, key: a}]}}", ["unknown-reference"]),
    ],
)
def test_checks(text: str, found: list[str]) -> None:
    assert kinds(text) == found


def findings(folder: Path, text: str) -> list[tuple[str, str, int | None]]:
    file = folder / "brokernat.yaml"
    file.write_text(text)
    found = lint_config(load(file, environ={"PROTOCOL": "sasl_ssl"}).clusters, read_document(file))
    return [(str(each.severity), each.code, each.location.line) for each in found]


HEAD = "clusters:\n  hq:\n    bootstrap_servers: gw:1\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("    address_map:\n    - a=b\n    - a:1=c:1\n", [("error", "shadowed-rule", 6)]),
        ("    broker_nat: [gw:1]\n", []),
        ("    unmapped: pass\n", [("warning", "unmapped-without-map", 4)]),
        ("    client:\n      security.protcol: SSL\n", [("warning", "unknown-property", 5)]),
        ("    client:\n      interceptor.of.mine: x\n", []),
        ("    client:\n      ssl.key.password: canary\n", [("warning", "plain-secret", 5)]),
        ("    client:\n      ssl.truststore.certificates: PEM\n", []),
        ("    client:\n      sasl.mechanism: PLAIN\n", [("warning", "sasl-unused", 4)]),
        ("    client: {security.protocol: sasl_ssl, sasl.mechanism: GSSAPI}\n", []),
        ("    client: {security.protocol: '${env:PROTOCOL}', sasl.mechanism: GSSAPI}\n", []),
        ("    client: {security.protocol: SASL_SSL, sasl.mechanism: GSSAPI}\n", []),
    ],
)
def test_findings(tmp_path: Path, text: str, found: list[tuple[str, str, int | None]]) -> None:
    assert findings(tmp_path, HEAD + text) == found


def test_a_password_of_a_database_in_plain_is_found(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("canary")
    found = findings(
        tmp_path,
        HEAD
        + """pipelines:
  tags:
    source: {cluster: hq, topics: [orders]}
    decode: {format: json, schema: a STRING}
    references:
      plain: {jdbc: {url: jdbc:postgresql://db/crm, table: t, password: canary}}
      kept: {jdbc: {url: jdbc:postgresql://db/crm, table: t, password: "${file:password}", options: {sslpassword: x}}}
    sink: {cluster: hq, topic: tags, dead_letters: dead}
    checkpoint: state
""",
    )
    assert found == [("warning", "plain-secret", 9), ("warning", "plain-secret", 10)]


def test_a_login_of_a_registry_in_plain_is_found(tmp_path: Path) -> None:
    registry = "registry: {url: 'http://r', client: {basic.auth.user.info: 'user:canary'}}"
    kept = "registry: {url: 'http://r', client: {bearer.auth.token: '${env:PROTOCOL}'}}"
    found = findings(
        tmp_path,
        f"""{HEAD}
pipelines:
  tags:
    source: {{cluster: hq, topics: [orders]}}
    decode: {{format: avro, schema_file: a, {registry}}}
    references:
      plain: {{kafka: {{cluster: hq, topic: t, decode: {{format: avro, schema_file: a, {registry}}}}}}}
      kept: {{kafka: {{cluster: hq, topic: t, decode: {{format: avro, schema_file: a, {kept}}}}}}}
    sink:
      cluster: hq
      topic: tags
      dead_letters: dead
      encode: {{format: avro, schema_file: a, {registry}}}
    checkpoint: state
""",
    )
    assert found == [("warning", "plain-secret", line) for line in (8, 16, 10)]


def test_a_template_is_for_a_proxy(tmp_path: Path) -> None:
    """The other clusters of the file work, and only a pipeline or a shipment that uses this one is reported."""
    clusters = HEAD + '    address_map: ["*.x:1 = gw:{1+id}"]\n  plain:\n    bootstrap_servers: gw:2\n'
    shipping = "shipping:\n  a: {cluster: plain, topic: a, spool: a}\n  b: {cluster: hq, topic: b, spool: b}\n"
    assert findings(tmp_path, clusters) == []
    assert findings(tmp_path, clusters + shipping) == [("error", "needs-node-id", 9)]


def test_a_reference_where_none_is_read_is_one_problem(tmp_path: Path) -> None:
    """Its characters are no endpoint, either."""
    file = tmp_path / "brokernat.yaml"
    file.write_text("clusters:\n  hq:\n    bootstrap_servers: ${env:BOOT}\n")
    with pytest.raises(ConfigError) as caught:
        load(file)
    (problem,) = caught.value.problems
    assert problem.message == "`${env:BOOT}` is not replaced here"
    assert "`client`" in str(problem.hint)


def test_a_trust_store_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "trust.pem").touch()
    client = "    client:\n      ssl.truststore.location: trust.pem\n      ssl.keystore.location: key.pem\n"
    assert findings(tmp_path, HEAD + client) == [("warning", "file-missing", 6)]


def test_files_and_modules_that_are_not_here(tmp_path: Path) -> None:
    """Warnings: the pipeline may run on another host."""
    (tmp_path / "there.csv").touch()
    (tmp_path / "beside.py").touch()
    paths = ("there.csv", "missing.csv", "s3a://bucket/x.csv", "day=*", "~/x.csv")
    references = {f"r{n}": {"format": "csv", "path": path} for n, path in enumerate(paths)}
    ends = {"source": {"cluster": "hq", "topics": ["a"]}, "sink": {"cluster": "hq", "topic": "b", "dead_letters": "c"}}
    pipeline = {**ends, "decode": {"format": "raw", "schema": "x BINARY"}, "references": references, "checkpoint": "s"}
    pipelines = {
        module: pipeline | {"transform": f"{module}:tag", "checkpoint": module, "references": found}
        for module, found in (("beside", references), ("nowhere", {}), ("json.decoder", {}))
    }
    text = json.dumps({"clusters": {"hq": {"bootstrap_servers": "gw:1"}}, "pipelines": pipelines})
    found = [(severity, code) for severity, code, _ in findings(tmp_path, text)]
    assert found == [("warning", "file-missing"), ("warning", "module-missing")]


def test_a_name_with_a_line_end_stays_on_the_line_of_its_message() -> None:
    (problem,) = check(parse_document('clusters: {"a\\nb": 7}', "f"))
    assert problem.location.path == "clusters.a\\nb"
