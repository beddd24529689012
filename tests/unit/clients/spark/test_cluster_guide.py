"""What the guide for clusters shows, against Spark's own jars and the file that `agent --copy-to` writes."""

import re
import zipfile
from pathlib import Path

import pyspark
import pytest
from ruamel.yaml import YAML

from brokernat.jvm.agent import JAR

GUIDE = Path(__file__).resolve().parents[4] / "docs/guides/clusters.md"
TEXT = GUIDE.read_text("utf-8")
NAMES = sorted(set(re.findall(r"\bspark\.(?:kubernetes|yarn)\.[A-Za-z.]*[A-Za-z]", TEXT)))


def constants(module: str) -> bytes:
    """The classes in which a module of Spark declares its settings."""
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob(f"spark-{module}_*.jar")
    with zipfile.ZipFile(jar) as content:
        return b"".join(content.read(name) for name in content.namelist() if re.search(r"/(Config|package)\$", name))


def declared(name: str, known: bytes) -> bool:
    """Whether a setting is there, as a whole or put together of a prefix and a name."""
    halves = [(name[: dot.start()], name[dot.start() :]) for dot in re.finditer(r"\.", name)]
    return any(all(half.encode() in known for half in parts) for parts in [(name,), *halves])


@pytest.mark.parametrize("module", ["kubernetes", "yarn"])
def test_spark_has_the_settings_that_the_guide_names(module: str) -> None:
    named = [name for name in NAMES if name.startswith(f"spark.{module}.")]
    known = constants(module)
    assert named
    assert [name for name in named if not declared(name, known)] == []


def test_the_pod_template_brings_the_jar_where_exec_expects_it() -> None:
    (template,) = re.findall(r"^```yaml\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
    pod = YAML(typ="safe", pure=True).load(template)
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    (copying,), (running,) = pod["spec"]["initContainers"], pod["spec"]["containers"]
    (volume,) = pod["spec"]["volumes"]
    folder = copying["command"][copying["command"].index("--copy-to") + 1]
    for container in (copying, running):
        (mount,) = container["volumeMounts"]
        assert (mount["name"], mount["mountPath"]) == (volume["name"], folder)
    assert f"--agent-path {folder}/{JAR}" in TEXT
