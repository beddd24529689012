"""What `exec --dry-run` shows, per kind of command; nothing is started."""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

Run = Callable[..., str]

JAR = Path("/opt/brokernat/brokernat-agent.jar")
LIBRARY = Path("/opt/brokernat/libbrokernat-preload.so")


@pytest.fixture(autouse=True)
def _surroundings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of a few bytes on the PATH, our own files at known places, and an environment of our own."""
    monkeypatch.setattr("brokernat.jvm.agent.agent_jar", lambda: JAR)
    monkeypatch.setattr("brokernat.clients.launch.spark_executors.agent_jar", lambda: JAR)
    monkeypatch.setattr("brokernat.clients.librdkafka.preload_library", lambda: LIBRARY)
    monkeypatch.setattr("brokernat.clients.launch.environment.HOOK_FOLDER", Path("/opt/brokernat/_python"))
    for name in (
        "JAVA_TOOL_OPTIONS",
        "LD_PRELOAD",
        "PYTHONPATH",
        "PYSPARK_SUBMIT_ARGS",
        "SPARK_HOME",
        "SPARK_CONF_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    programs = {
        "java": "#!/bin/sh\n",
        "job.py": "#!/usr/bin/env python3\n",
        "nightly": "#!/bin/sh\n",
        "kafka-topics.sh": "#!/bin/sh\nexec kafka-run-class.sh\n",
        "spark-submit": "#!/bin/sh\n",
        "python3": "#!/bin/sh\n",
    }
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    "line",
    [
        "-- java -jar app.jar --topic a",
        "--unmapped pass -- job.py",
        "nightly",
        "--with-client-properties -- kafka-topics.sh --list",
        "--agent-path /agents/a.jar -- spark-submit --master spark://h:7077 job.py",
        "--agent-path /agents/a.jar -- python3 job.py",
        "-- spark-submit --master spark://h:7077 --jars mine.jar job.py",
        "-- spark-submit --master yarn --deploy-mode cluster job.py",
        "--cluster local -- java -version",
        "--with-client-properties --format json -- kafka-topics.sh --list",
    ],
)
def test_dry_run(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("exec", "--cluster", "hq", "--dry-run", *line.split()) == snapshot


def test_a_map_of_the_command_line_needs_no_file(run: Run, snapshot: SnapshotAssertion, folder: Path) -> None:
    (folder / "brokernat.yaml").unlink()
    assert run("exec", "--map", "10.1.1.1:9092 = gateway:9092", "--dry-run", "--", "java", "-version") == snapshot


def test_the_only_cluster_of_the_file_needs_no_name(run: Run, folder: Path) -> None:
    (folder / "brokernat.yaml").write_text(
        "clusters:\n  hq:\n    bootstrap_servers: gateway:9092\n    address_map: ['kafka-1:9092 = gateway:9092']\n"
    )
    assert run("exec", "--dry-run", "--", "java") == run("exec", "--cluster", "hq", "--dry-run", "--", "java")


def test_what_the_user_has_is_kept_and_not_shown(
    run: Run, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStorePassword=canary")
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/libbrokernat-preload.so")
    assert run("exec", "--cluster", "hq", "--dry-run", "--", "java", "-version") == snapshot


def test_no_value_of_the_user_is_in_the_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each variable that gets our part the user has a value of their own."""
    submit = "--master yarn --conf spark.driver.extraJavaOptions=-Dpassword=canary pyspark-shell"
    users = {"JAVA_TOOL_OPTIONS": "-Dpassword=canary", "LD_PRELOAD": "/canary.so", "PYTHONPATH": "/canary"}
    for name, value in {**users, "PYSPARK_SUBMIT_ARGS": submit, "BROKERNAT_MAP": "canary=canary"}.items():
        monkeypatch.setenv(name, value)
    text = run("exec", "--cluster", "hq", "--dry-run", "--format", "json", "--", "python3", "job.py")
    assert text.startswith("exit 0")
    assert all(name in text for name in users)
    assert "canary" not in text


@pytest.mark.parametrize("tool", ["kafka-topics.sh", "kcat"])
@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize(
    "login",
    ["sasl.jaas.config: ${file:/nowhere/jaas}", "sasl.username: app\n      sasl.password: ${file:/nowhere/password}"],
)
def test_a_dry_run_looks_up_no_secret(run: Run, folder: Path, tool: str, output: str, login: str) -> None:
    """It shows names, so it runs where the login is not, such as in a review."""
    (folder / "kcat").write_text("#!/bin/sh\n")
    (folder / "kcat").chmod(0o755)
    file = folder / "brokernat.yaml"
    file.write_text(
        "clusters:\n  hq:\n    bootstrap_servers: gateway:9092\n    address_map: ['kafka-1:9092 = gateway:9092']\n"
        "    client:\n      security.protocol: SASL_PLAINTEXT\n      sasl.mechanism: PLAIN\n"
        "      linger.ms: ${env:NOWHERE_LINGER}\n      buffer.memory: ${env:NOWHERE_SIZE}\n"
        f"      {login}\n"
    )
    words = ["exec", "--cluster", "hq", "--with-client-properties", "--dry-run", "--format", output, "--", tool]
    text = run(*words)
    assert text.startswith("exit 0"), text
    assert "sasl." in text
    assert "nowhere" not in text.lower()
    words.remove("--dry-run")
    assert "NOWHERE_LINGER" in run(*(word for word in words if word not in ("--format", output)))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--cluster hq",
        "--dry-run -- java",
        "--config nothing.yaml --dry-run -- java",
        "--map a:1=b:1 --cluster hq --dry-run -- java",
        "--map= --dry-run -- java",
        "--cluster hq --dry-run -- nothing",
        "--cluster hq --dry-run -- ./brokernat.yaml",
        "--cluster hg --dry-run -- java",
        "--cluster local --dry-run -- java",
        "--cluster hq --format json -- java",
        "--cluster hq --dry-run -- spark-submit --master spark://h:7077 --deploy-mode cluster job.py",
        "--cluster hq --dry-run --with-client-properties -- java -jar app.jar",
        "--help",
    ],
)
def test_refusals_and_help(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    assert run("exec", *line.split()) == snapshot


def test_a_bug_of_ours_is_told_from_the_code_of_the_program(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: object, **__: object) -> None:
        raise RuntimeError("the password is canary")

    monkeypatch.setattr("brokernat.clients.launch.plan", bug)
    text = run("exec", "--cluster", "hq", "--", "java")
    assert text.startswith("exit 125\n--- stdout\n--- stderr\nerror: internal error, RuntimeError")
    assert "issue tracker" in text
