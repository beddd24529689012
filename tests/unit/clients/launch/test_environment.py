"""The map of several clusters in one process; ours beside the user's, and taken out again."""

import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.unit.clients.launch.conftest import cluster

from brokernat.address import AddressMap, Unmapped
from brokernat.clients.launch import environment as env
from brokernat.clients.launch.environment import map_of_process
from brokernat.errors import ConfigError, MissingToolError

LIBRARY = Path("/opt/libbrokernat-preload.so")
OPTION = "-javaagent:/opt/brokernat-agent.jar=a:1=b:2;unmapped=fail"
RULES = AddressMap.parse("a:1=b:2")


def whole(environ: dict[str, str], option: str = OPTION) -> dict[str, str]:
    """Everything at once, as for a shell."""
    base = env.without_ours(environ)
    changes = [env.for_jvm(base, option), env.for_librdkafka(base, LIBRARY), env.for_python(base)]
    return base | {change.name: change.value or "" for change in (*changes, *env.for_rules(RULES))}


def test_into_an_empty_environment() -> None:
    assert whole({}) == {
        "JAVA_TOOL_OPTIONS": OPTION,
        "LD_PRELOAD": str(LIBRARY),
        "PYTHONPATH": str(env.HOOK_FOLDER),
        "BROKERNAT_MAP": "a:1=b:2",
        "BROKERNAT_UNMAPPED": "fail",
    }


@pytest.mark.parametrize(
    "theirs",
    [
        {},
        {"PATH": "/bin"},
        {"JAVA_TOOL_OPTIONS": '-Xmx1g "-Dname=a b"', "LD_PRELOAD": "/usr/lib/libjemalloc.so", "PYTHONPATH": "/a:/b"},
        {"JAVA_TOOL_OPTIONS": "-javaagent:/opt/other-agent.jar=x"},
    ],
)
@pytest.mark.parametrize("option", [OPTION, "-javaagent:/with a blank/brokernat-agent.jar=a:1=b:2;unmapped=pass"])
def test_what_the_user_has_stays_and_a_second_exec_replaces(theirs: dict[str, str], option: str) -> None:
    once = whole(theirs, option)
    assert all(once[name].find(value) >= 0 for name, value in theirs.items())
    assert whole(once, option) == once
    assert env.without_ours(once) == theirs


def test_our_library_stands_behind_theirs_and_our_folder_in_front() -> None:
    found = whole({"LD_PRELOAD": "/a.so /b.so", "PYTHONPATH": "/mine"})
    assert found["LD_PRELOAD"] == f"/a.so /b.so:{LIBRARY}"
    assert found["PYTHONPATH"] == f"{env.HOOK_FOLDER}:/mine"


def test_an_option_with_blanks_is_quoted_as_the_jvm_reads_it() -> None:
    assert env.for_jvm({}, "-javaagent:/a b/brokernat-agent.jar").added == '"-javaagent:/a b/brokernat-agent.jar"'


@pytest.mark.parametrize("folder", ["/a b", "/a:b"])
def test_a_path_that_the_loader_would_split(folder: str) -> None:
    with pytest.raises(MissingToolError, match="LD_PRELOAD splits"):
        env.for_librdkafka({}, Path(folder) / LIBRARY.name)


def test_a_map_that_the_kernel_would_not_pass_on_is_refused_with_another_way() -> None:
    change = env.for_rules(RULES)[0]
    env.check_lengths([change, env.Change("GONE", None)])
    long = ",".join(f"10.{n // 250}.{n % 250}.1:9092=gateway:{n + 1}" for n in range(5_000))
    with pytest.raises(ConfigError, match=r"BROKERNAT_MAP would have \d+ bytes, and the kernel takes 131072") as caught:
        env.check_lengths(env.for_rules(AddressMap.parse(long)))
    assert "file:/path" in str(caught.value.hint)


@pytest.mark.skipif(os.sysconf("SC_PAGESIZE") != 4096, reason="with larger pages the kernel takes more")
@pytest.mark.parametrize("more", [0, 1])
def test_the_longest_variable_is_the_kernels(more: int) -> None:
    change = env.Change("BROKERNAT_MAP", "x" * ((128 << 10) - len("BROKERNAT_MAP=\0") + more))
    with pytest.raises(ConfigError, match="131073 bytes") if more else nullcontext():
        env.check_lengths([change])
    with pytest.raises(OSError, match="Argument list too long") if more else nullcontext():
        subprocess.run(["/bin/true"], env={change.name: str(change.value)}, check=True)


HQ = cluster("hq", "192.168.1.23:9092=172.10.1.40:9093")


def test_one_cluster_keeps_its_map() -> None:
    assert map_of_process([HQ]) == HQ.address_map


def test_no_map_at_all() -> None:
    assert map_of_process([cluster("local", None)]) is None
    assert map_of_process([cluster("opted-out", "")], Unmapped.FAIL) is None


@pytest.mark.parametrize(
    ("other", "unmapped"),
    [
        (cluster("audit", "10.0.0.1:9092=172.10.1.40:9193"), Unmapped.FAIL),
        (cluster("audit", "10.0.0.1:9092=172.10.1.40:9193", Unmapped.PASS), Unmapped.PASS),
        (cluster("local", None), Unmapped.PASS),
        (cluster("opted-out", ""), Unmapped.PASS),
    ],
)
def test_what_no_rule_names_is_refused_only_where_every_cluster_has_a_map_that_says_so(
    other: object, unmapped: Unmapped
) -> None:
    found = map_of_process([HQ, other])  # type: ignore[list-item]
    assert found is not None
    assert found.unmapped is unmapped
    assert map_of_process([HQ, other], Unmapped.FAIL).unmapped is Unmapped.FAIL  # type: ignore[list-item, union-attr]


@pytest.mark.parametrize("rules", ["192.168.1.23:9092=172.10.1.41:9093", "192.168.1.0/24=10.0.0.0/24,*.hq=gateway"])
def test_clusters_that_advertise_one_address_are_refused(rules: str) -> None:
    with pytest.raises(ConfigError, match=r"(hq2 and hq|hq and hq2) advertise the same addresses"):
        map_of_process([cluster("hq2", rules), HQ])


def test_the_same_rule_twice_is_one_meaning() -> None:
    assert map_of_process([HQ, cluster("again", "192.168.1.23:9092=172.10.1.40:9093")]) is not None


def test_a_rule_that_no_client_decides() -> None:
    with pytest.raises(ConfigError, match="node id"):
        map_of_process([cluster("hq", "*.hq:9092=gateway:{9092+id}")])
