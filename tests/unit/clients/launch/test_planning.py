"""The whole plan: what is injected for a kind, what is missing, what is reported; the file without a name.

Becoming the child is tested with processes, in tests/integration/exec/test_signals.py.
"""

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.clients.launch.conftest import MakeProgram, cluster, elf

from brokernat.address import AddressMap, Unmapped
from brokernat.clients import librdkafka
from brokernat.clients.launch import Launch, plan, plan_without_map
from brokernat.clients.launch.console_tools import PropertyFile
from brokernat.clients.launch.planning import replace_process, run_process, warnings
from brokernat.clients.launch.program import Kind, find_program, recognise
from brokernat.config import Cluster
from brokernat.config.model import TunnelSection
from brokernat.errors import ConfigError, MissingToolError, NotExecutableError

AGENT = Path("/opt/brokernat-agent.jar")


@pytest.fixture(autouse=True)
def _built(preload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brokernat.jvm.agent.agent_jar", lambda: AGENT)


def names(launch: Launch) -> set[str]:
    return {change.name for change in launch.changes}


def said(launch: Launch) -> str:
    return "\n".join(map(str, launch.notes))


def test_a_kind_gets_only_what_reaches_it(program: MakeProgram, hq: Cluster) -> None:
    java = plan([str(program("java", "#!/bin/sh\n"))], [hq], {"KEPT": "yes"})
    assert names(java) == {"JAVA_TOOL_OPTIONS"}
    assert java.environment["KEPT"] == "yes"
    kcat = plan([str(program("kcat", elf(needed=["librdkafka.so.1"])))], [hq], {})
    assert names(kcat) == {"LD_PRELOAD", "BROKERNAT_MAP", "BROKERNAT_UNMAPPED"}
    shell = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {})
    assert names(shell) == {*names(java), *names(kcat), "PYTHONPATH"}


def test_without_a_map_any_program_is_started(program: MakeProgram, hq: Cluster) -> None:
    """What serves Go behind a tunnel is the proxy, so nothing has to get into it."""
    go = str(program("tool", elf(interpreter=None, extra=b"\xff Go buildinf:")))
    with pytest.raises(ConfigError, match="is a Go program"):
        plan([go], [hq], {})
    launch = plan_without_map([go, "-v"], {"KEPT": "yes"})
    assert (launch.command, launch.environment, launch.changes) == ((go, "-v"), {"KEPT": "yes"}, ())


def test_an_outer_map_is_taken_away_where_the_kind_needs_none_of_it(program: MakeProgram, hq: Cluster) -> None:
    outer = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {}).environment
    inner = plan([str(program("java", "#!/bin/sh\n"))], [hq], outer)
    assert inner.environment.keys() == {"JAVA_TOOL_OPTIONS"}
    assert {change.name for change in inner.changes if change.value is None} == {
        "LD_PRELOAD", "PYTHONPATH", "BROKERNAT_MAP", "BROKERNAT_UNMAPPED",
    }  # fmt: skip


def test_a_library_that_is_not_built(program: MakeProgram, hq: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise MissingToolError("not built", hint="make plugin")

    monkeypatch.setattr(librdkafka, "preload_library", missing)
    launch = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {})
    assert "warning: programs with librdkafka get no map: not built" in said(launch)
    assert "JAVA_TOOL_OPTIONS" in names(launch)
    with pytest.raises(MissingToolError, match="not built"):
        plan([str(program("kcat", elf(needed=["librdkafka.so.1"])))], [hq], {})


@pytest.mark.parametrize(("asked", "end"), [(None, "unmapped=fail"), (Unmapped.PASS, "unmapped=pass")])
def test_what_becomes_of_unnamed_addresses(program: MakeProgram, hq: Cluster, asked: Unmapped | None, end: str) -> None:
    launch = plan([str(program("java", "#!/bin/sh\n"))], [hq], {}, unmapped=asked)
    assert launch.environment["JAVA_TOOL_OPTIONS"].endswith(end)
    assert end in said(launch)


def test_a_map_that_the_kernel_does_not_pass_on_starts_nothing(program: MakeProgram, hq: Cluster) -> None:
    domain = ".".join(letter * 60 for letter in "abc")
    rules = ",".join(f"kafka-{number}.{domain}:9092=gateway:{number + 1}" for number in range(700))
    many = replace(hq, address_map=AddressMap.parse(rules))
    with pytest.raises(ConfigError, match="the map is too long"):
        plan([str(program("nightly", "#!/bin/sh\n"))], [many], {})


def test_a_cluster_without_a_map_still_has_a_login_to_give(program: MakeProgram) -> None:
    local = cluster("local", None)
    topics = str(program("kafka-topics.sh", "#!/bin/sh\nkafka-run-class.sh\n"))
    with pytest.raises(ConfigError, match="no address map to apply: local has none"):
        plan([topics], [local], {})
    launch = plan([topics], [local], {}, with_client_properties=True)
    assert launch.environment == {}
    assert launch.command[1:3] == ("--command-config", "/proc/self/fd/30")


def test_no_secret_in_words_or_environment(program: MakeProgram, hq: Cluster) -> None:
    topics = str(program("kafka-topics.sh", "#!/bin/sh\nkafka-run-class.sh\n"))
    launch = plan([topics], [hq], {}, with_client_properties=True)
    assert "canary" in launch.files[0].text
    assert "canary" not in repr(launch) + said(launch)


def test_a_path_for_executors_that_nobody_takes(program: MakeProgram, hq: Cluster) -> None:
    launch = plan([str(program("nightly", "#!/bin/sh\n"))], [hq], {}, agent_path="/agents/a.jar")
    assert "warning: --agent-path is not used" in said(launch)


def warned(path: object, *words: str) -> list[str]:
    found = find_program(str(path), {})
    return list(warnings(found, recognise(found), [str(path), *words]))


@pytest.mark.parametrize("words", ["-I a.py", "-uE a.py", "-W error -S a.py", "-Es -c 0"])
def test_a_python_that_reads_no_hook(program: MakeProgram, words: str) -> None:
    (text,) = warned(program("python3", b"\0"), *words.split())
    assert "kafka-python and aiokafka get no map" in text


@pytest.mark.parametrize(
    "words", ["a.py -I", "-u a.py -E", "-c -S", "-m pkg -I", "-X importtime a.py", "-W -I a.py", ""]
)
def test_options_of_the_script_are_not_pythons(program: MakeProgram, words: str) -> None:
    assert warned(program("python3", b"\0"), *words.split()) == []


def test_the_first_line_of_a_script_counts(program: MakeProgram) -> None:
    assert "Python with -I" in warned(program("tool", "#!/usr/bin/python3 -I\n"), "x")[0]


def test_programs_with_an_environment_of_their_own(program: MakeProgram) -> None:
    assert "put `brokernat exec` after it" in warned(program("sudo", elf(needed=["libc.so.6"])))[0]
    go = elf(interpreter=None, extra=b"\xff Go buildinf:")
    assert "put `brokernat exec` after it" in warned(program("docker", go), "run", "x")[0]


def test_javascript_has_clients_of_its_own(program: MakeProgram) -> None:
    assert "kafkajs, gets no map" in warned(program("node", elf(needed=["libc.so.6"])), "app.js")[0]


@pytest.mark.parametrize("words", ["-i kcat", "- kcat", "-i A=b java x", "--ignore-environment kcat", "-vi kcat"])
def test_an_env_that_takes_everything_away(program: MakeProgram, words: str) -> None:
    (text,) = warned(program("env", elf(needed=["libc.so.6"])), *words.split())
    assert "put `brokernat exec` after it" in text


@pytest.mark.parametrize("words", ["A=b kcat -i", "-u A kcat", "-C /tmp kcat", "kcat - -i", "-v kcat"])
def test_an_env_that_hands_on_what_it_has(program: MakeProgram, words: str) -> None:
    assert warned(program("env", elf(needed=["libc.so.6"])), *words.split()) == []


def test_librdkafka_that_may_be_built_in(program: MakeProgram) -> None:
    assert "built in" in warned(program("app", elf(needed=["libc.so.6"], extra=b"rd_kafka_new\0")))[0]
    assert warned(program("kcat", elf(needed=["librdkafka.so.1"], extra=b"rd_kafka_new\0"))) == []


@pytest.mark.parametrize(("version", "refused"), [("1.8.0_412", True), ("10.0.2", True), ("11.0.1", False)])
def test_java_by_its_release_file(program: MakeProgram, version: str, refused: bool) -> None:
    java = program("jdk/bin/java", elf(needed=["libjli.so"]))
    (java.parent.parent / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    if not refused:
        assert warned(java) == []
        return
    with pytest.raises(ConfigError, match=f"Java {version}, and the agent needs 11"):
        warned(java)


@pytest.mark.parametrize(
    ("modules", "refused"), [("java.base java.logging", True), ("java.base java.instrument", False)]
)
def test_java_of_an_image_that_has_no_agents(program: MakeProgram, modules: str, refused: bool) -> None:
    java = program("image/bin/java", elf(needed=["libjli.so"]))
    (java.parent.parent / "release").write_text(f'JAVA_VERSION="17.0.9"\nMODULES="{modules}"\n')
    if not refused:
        assert warned(java) == []
        return
    with pytest.raises(ConfigError, match=r"without the module java\.instrument"):
        warned(java)


# A number that nothing else of a long test run has reached.
FILE = PropertyFile(700, "about", "a=canary\n")


@pytest.fixture(autouse=True)
def _signals_of_this_process() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_login_is_in_memory_readable_by_its_owner_and_inherited(tmp_path: Path) -> None:
    # A directory is found by nobody's PATH and started by no kernel: everything before the last step is done.
    launch = Launch(tmp_path, ("x",), Kind.OTHER, {}, (), (FILE,), ())
    try:
        with pytest.raises(NotExecutableError, match="Permission denied"):
            replace_process(launch)
        assert Path(FILE.path).read_text() == FILE.text
        assert stat.S_IMODE(Path(FILE.path).stat().st_mode) == 0o600
        assert os.get_inheritable(FILE.descriptor)
        assert str(Path(FILE.path).readlink()).startswith("/memfd:")
        with pytest.raises(ConfigError, match="descriptor 700 is in use"):
            replace_process(launch)
    finally:
        os.close(FILE.descriptor)


def shell(program: MakeProgram, script: str, *files: PropertyFile) -> Launch:
    """A launch of a shell script, as a tunnel runs it."""
    path = program("run", f"#!/bin/sh\n{script}\n")
    launch = plan([str(path)], [cluster("hq", "a:1=b:1")], os.environ)
    return replace(launch, files=files)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done", 9),
        ('test "$BROKERNAT_MAP" = a:1=b:1', 0),
    ],
    ids=["code", "signal", "passed on", "map"],
)
def test_a_process_that_stays_returns_its_childs_code(program: MakeProgram, script: str, code: int) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run_process(shell(program, script)) == code
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_comes_while_the_child_is_started_reaches_it(
    program: MakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Slow)
    assert run_process(shell(program, "while :; do sleep 0.05; done")) == 128 + signal.SIGTERM


def test_a_child_of_a_process_that_stays_has_the_file_in_memory(program: MakeProgram) -> None:
    assert run_process(shell(program, f"grep -q canary /proc/self/fd/{FILE.descriptor}", FILE)) == 0
    os.close(FILE.descriptor)


def test_a_script_without_a_first_line_is_the_shells_here_too(program: MakeProgram) -> None:
    path = program("run", "exit 6\n")
    assert run_process(plan([str(path)], [cluster("hq", "a:1=b:1")], os.environ)) == 6


def test_executors_elsewhere_cannot_reach_a_tunnel(program: MakeProgram, hq: Cluster) -> None:
    submit = program("spark-submit", "#!/bin/sh\n")
    behind = replace(hq, tunnel=TunnelSection(ssh="user@bastion"))
    plan([str(submit), "--master", "local[2]", "job.py"], [behind], {})
    with pytest.raises(ConfigError, match="executors of yarn run on other hosts"):
        plan([str(submit), "--master", "yarn", "job.py"], [behind], {})
