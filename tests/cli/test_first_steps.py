"""What people type in their first minutes: another file, a wrong word, an endpoint without an option, the Tab key."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.shell_completion import ShellComplete
from tests.cli.conftest import Run

from brokernat.cli.app import cli
from brokernat.text import counted

ENDPOINT = "127.0.0.1:1"  # tcpmux: nothing listens there


@pytest.fixture
def elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder's file is the one that the variable names, and the current folder has none."""
    (folder / "work").mkdir()
    monkeypatch.chdir(folder / "work")
    monkeypatch.setenv("BROKERNAT_CONFIG", str(folder / "brokernat.yaml"))
    return folder


def test_the_environment_names_the_file(elsewhere: Path, run: Run) -> None:
    assert run("config", "check").startswith("exit 0\n")
    assert "172.10.1.40:9093\n" in run("map", "translate", "--cluster", "hq", "192.168.1.23:9092")
    (elsewhere / "work" / "other.yaml").write_text("clusters: {}\n")
    assert "other.yaml" in run("config", "check", "--config", "other.yaml")


@pytest.mark.parametrize(
    "line",
    [
        "config check",
        "map check",
        "map export",
        "doctor",
        "discover",
        "exec --cluster hq -- true",
        "ship audit",
        "ship --cluster hq --topic t --spool s",
        "pipeline check tags",
        "pipeline run tags",
        "pipeline reconcile tags",
        "pipeline reconcile --cluster hq --topic t",
        "render nginx",
        "render listeners",
    ],
)
def test_a_missing_file_is_named_with_where_its_name_came_from(
    run: Run, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    first, *rest = line.split()
    given = [*line.split()[:2], "--config", "absent.yaml", *line.split()[2:]]
    if first in ("doctor", "discover", "exec", "ship"):
        given = [first, "--config", "absent.yaml", *rest]
    assert "there is no file `absent.yaml` (from `--config`)" in run(*given)
    monkeypatch.setenv("BROKERNAT_CONFIG", "gone.yaml")
    assert "there is no file `gone.yaml` (from BROKERNAT_CONFIG)" in run(*line.split())
    monkeypatch.delenv("BROKERNAT_CONFIG")
    Path("brokernat.yaml").unlink()
    assert "there is no file `brokernat.yaml` (the default)" in run(*line.split())


def test_init_writes_the_file_that_the_environment_names(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BROKERNAT_CONFIG", "mine.yaml")
    assert run("init").startswith("exit 0\n--- stdout\nmine.yaml\n")
    assert "`mine.yaml` (from BROKERNAT_CONFIG) exists" in run("init")


def test_a_started_file_needs_no_login(run: Run) -> None:
    run("init", "--config", "new.yaml")
    assert run("config", "check", "--config", "new.yaml").startswith("exit 0\n")
    commented = Path("new.yaml").read_text()
    login = commented[commented.index("    # client:") : commented.index("\n  local:")]
    Path("new.yaml").write_text(commented.replace(login, login.replace("# ", "")))
    assert "the environment variable `HQ_PASSWORD` is not set" in run("config", "check", "--config", "new.yaml")


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("docter", "brokernat doctor"),
        ("Doctor", "brokernat doctor"),
        ("check", "brokernat config check`, `brokernat map check`, `brokernat pipeline check"),
        ("nginx --cluster hq", "brokernat render nginx"),
        ("kafka:9092", "brokernat doctor kafka:9092"),
        ("kafka-1:9092,kafka-2:9092", "brokernat doctor kafka-1:9092,kafka-2:9092"),
        ("map tranlsate a:1", "brokernat map translate"),
        ("render ngnix", "brokernat render nginx"),
        ("testbed start", "brokernat testbed status"),
        ("pipeline verify tags", "brokernat pipeline reconcile"),
        ("verify tags", "brokernat pipeline reconcile"),
    ],
)
def test_an_unknown_command_names_those_that_are_near(run: Run, line: str, suggestion: str) -> None:
    said = run(*line.split())
    assert said.startswith("exit 2\n")
    assert f"did you mean `{suggestion}`?" in said


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("doctor --rule a=b", "did you mean `--map`? "),
        ("doctor --output report.html", "did you mean `--save` or `--html`? "),
        ("doctor --json", "did you mean `--format json`? "),
        ("doctor --topics t", "did you mean `--topic`? "),
        ("doctor --boot a:1", "did you mean `--bootstrap-server`? "),
        ("map check --rules a=b", "did you mean `--rule` or `--file`? "),
        ("config check --zzz", ""),
    ],
)
def test_an_unknown_option_names_those_that_are_near(run: Run, line: str, suggestion: str) -> None:
    words = line.split()
    command = " ".join(word for word in words[:2] if not word.startswith("-"))
    option = next(word for word in words if word.startswith("--"))
    said = run(*words)
    hint = f"hint: {suggestion}`brokernat {command} --help` lists the options"
    assert said == f"exit 2\n--- stdout\n--- stderr\nerror: No such option '{option}'.\n\n{hint}\n"


@pytest.mark.parametrize("command", ["doctor", "discover"])
@pytest.mark.parametrize("words", [[""], ["-b", ""], ["--bootstrap-server", " ,"]])
def test_an_empty_bootstrap_server(run: Run, command: str, words: list[str]) -> None:
    assert run(command, *words).startswith("exit 2\n--- stdout\n--- stderr\nerror: a bootstrap server is empty\n")


@pytest.mark.parametrize("command", ["doctor", "discover"])
def test_endpoints_need_no_option(run: Run, command: str) -> None:
    assert run(command, ENDPOINT) == run(command, "--bootstrap-server", ENDPOINT)
    assert run(command, f"{ENDPOINT},127.0.0.1:2", "127.0.0.1:3") == run(
        command, *(word for port in (1, 2, 3) for word in ("--bootstrap-server", f"127.0.0.1:{port}"))
    )


def test_a_word_that_is_no_endpoint(run: Run) -> None:
    said = run("doctor", "hq")
    assert "error: `hq` is not a HOST:PORT" in said
    assert "`brokernat doctor --cluster hq`" in said


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes() -> None:
    """The line that the help names, and then what bash calls for the Tab key."""
    script = """
        eval "$(_BROKERNAT_COMPLETE=bash_source brokernat)"
        complete -p brokernat
        press_tab() {
            COMPREPLY=() COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _brokernat_completion brokernat
            echo "${COMPREPLY[@]}"
        }
        press_tab brokernat do
        press_tab brokernat map tr
        press_tab brokernat doctor --fail-on ''
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == ["doctor", "translate", "error warning"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("doctor --cluster h", ["hq"]),
        ("exec --cluster ", ["hq", "local"]),
        ("pipeline run ", ["tags", "totals"]),
        ("pipeline --help run t", ["tags", "totals"]),
        ("ship a", ["audit"]),
        ("ship ", ["audit", "status"]),
        ("ship status ", ["audit"]),
        ("doctor --config other.yaml --cluster ", ["remote"]),
        ("doctor --config broken.yaml --cluster ", []),
        ("doctor --config absent.yaml --cluster ", []),
    ],
)
def test_names_of_the_file_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, names: list[str]
) -> None:
    cluster = {"bootstrap_servers": "kafka-1:9092"}
    pipeline = {
        "source": {"cluster": "hq", "topics": ["orders"]},
        "decode": {"format": "json", "schema": "id INT"},
        "sink": {"cluster": "local", "topic": "tags", "dead_letters": "dead"},
        "checkpoint": "checkpoint",
    }
    shipment = {"cluster": "hq", "topic": "audit", "spool": "spool", "files": ["log"]}
    whole = {
        "clusters": {"hq": cluster, "local": cluster | {"client": {"sasl.jaas.config": "${env:ABSENT}"}}},
        "pipelines": {"tags": pipeline, "totals": pipeline | {"checkpoint": "another"}},
        "shipping": {"audit": shipment},
    }
    (tmp_path / "brokernat.yaml").write_text(json.dumps(whole))
    (tmp_path / "other.yaml").write_text(json.dumps({"clusters": {"remote": cluster}}))
    (tmp_path / "broken.yaml").write_text("clusters: [")
    monkeypatch.chdir(tmp_path)
    *typed, incomplete = words.split(" ")
    found = ShellComplete(cli, {}, "brokernat", "_BROKERNAT_COMPLETE").get_completions(typed, incomplete)
    assert [each.value for each in found] == names


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("explain BN30", ["BN301", "BN302", "BN303"]),
        ("explain bn30", ["BN301", "BN302", "BN303"]),
        ("explain ", [""]),
        ("doctor --suppress BN30", ["BN301", "BN302", "BN303"]),
        ("testbed down b", ["bernd"]),
    ],
)
def test_codes_and_testbeds_are_completed(monkeypatch: pytest.MonkeyPatch, words: str, found: list[str]) -> None:
    from brokernat.testbed import running_worlds

    worlds = (SimpleNamespace(name="anna"), SimpleNamespace(name="bernd"))
    monkeypatch.setattr(running_worlds, "list_running", lambda: worlds)
    *typed, incomplete = words.split(" ")
    completed = ShellComplete(cli, {}, "brokernat", "_BROKERNAT_COMPLETE").get_completions(typed, incomplete)
    assert [each.value for each in completed][: len(found)] == found
    assert ("file" in [each.type for each in completed]) == words.startswith("explain")


@pytest.mark.parametrize(
    ("shell", "answer"),
    [("zsh", ["plain", "doctor", None]), ("fish", ["plain,doctor"])],
)
def test_the_other_shells_get_their_script_and_an_answer(shell: str, answer: list[str | None]) -> None:
    def run_with(mode: str, **environ: str) -> str:
        words = {"COMP_WORDS": "brokernat doc", "COMP_CWORD": "doc" if shell == "fish" else "1"} | environ
        program = Path(sys.executable).with_name("brokernat")
        environment = os.environ | words | {"_BROKERNAT_COMPLETE": f"{shell}_{mode}"}
        return subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout

    assert "_BROKERNAT_COMPLETE" in run_with("source")
    lines = run_with("complete").splitlines()
    assert [line.partition("\t")[0] for line in lines[: len(answer)]] == [
        word or lines[number] for number, word in enumerate(answer)
    ]


def test_the_help_says_how_to_switch_completion_on(run: Run) -> None:
    text = run("--help")
    assert 'eval "$(_BROKERNAT_COMPLETE=bash_source brokernat)"' in text
    assert 'eval "$(_BROKERNAT_COMPLETE=zsh_source brokernat)"' in text
    assert "_BROKERNAT_COMPLETE=fish_source brokernat | source" in text


def test_completing_a_command_imports_no_command() -> None:
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    code += "from brokernat.cli.app import main; main([])"
    environment = os.environ | {"_BROKERNAT_COMPLETE": "bash_complete", "COMP_WORDS": "brokernat ", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "plain,testbed" in done.stdout
    assert not {"pydantic", "brokernat.config", "rich"} & set(done.stderr.split())


def test_counted_nouns() -> None:
    assert [counted(number, "JVM") for number in (0, 1, 2)] == ["0 JVMs", "1 JVM", "2 JVMs"]
    assert counted(2, "entry", "entries") == "2 entries"
    assert counted(1, "entry", "entries") == "1 entry"


def test_spark_is_not_started_where_there_is_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.version", None)
    said = run("doctor", ENDPOINT, "--on-executors")
    assert "error: PySpark is not installed\n\nhint: pip install 'brokernat[spark]'" in said
    assert "starting Spark" not in said
