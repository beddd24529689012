"""The one setting that reaches executors on other hosts, beside what the user set."""

import shlex
from pathlib import Path

import pytest

from brokernat.address import AddressMap
from brokernat.clients.launch import spark_executors
from brokernat.clients.launch.program import Kind
from brokernat.clients.launch.spark_executors import with_executors, without_ours
from brokernat.errors import ConfigError

RULES = AddressMap.parse("a:1=b:2")
JAR = "/agents/brokernat-agent.jar"
OPTION = f"-javaagent:{JAR}=a:1=b:2;unmapped=fail"
EXECUTOR = f"spark.executor.defaultJavaOptions={OPTION}"
SUBMIT = Path("/opt/spark/bin/spark-submit")
PLUGIN = "io.brokernat.agent.spark.MapPlugin"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The jar of an installation."""
    jar = tmp_path / "brokernat-agent.jar"
    monkeypatch.setattr(spark_executors, "agent_jar", lambda: jar)
    return jar


def submit(line: str, environ: dict[str, str] | None = None, jar: str | None = JAR) -> tuple[str, ...]:
    return with_executors(Kind.SPARK, SUBMIT, shlex.split(line), environ or {}, RULES, jar).command


def python(submit_args: str | None, jar: str | None = JAR) -> str | None:
    environ = {} if submit_args is None else {"PYSPARK_SUBMIT_ARGS": submit_args}
    found = with_executors(Kind.PYTHON, Path("/usr/bin/python3"), ["python3", "job.py"], environ, RULES, jar)
    assert found.command == ("python3", "job.py")
    return found.submit_args


def test_spark_submit_gets_its_word_before_the_application() -> None:
    line = "spark-submit -v --master spark://h:7077 job.py --conf not=ours"
    assert submit(line) == (
        "spark-submit", "-v", "--master", "spark://h:7077", "--conf", EXECUTOR, "job.py", "--conf", "not=ours",
    )  # fmt: skip


def test_what_the_user_gave_executors_is_kept_in_the_later_word() -> None:
    found = submit("spark-submit --conf spark.executor.defaultJavaOptions=-Dmine=1 job.py")
    assert found[-2] == f"spark.executor.defaultJavaOptions=-Dmine=1 {OPTION}"


def test_what_the_defaults_file_gives_executors_is_kept(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.executor.defaultJavaOptions -Dmine=1\n")
    found = submit("spark-submit job.py", {"SPARK_CONF_DIR": str(tmp_path)})
    assert found[2] == f"spark.executor.defaultJavaOptions=-Dmine=1 {OPTION}"


def test_a_driver_that_a_worker_starts_gets_it_too() -> None:
    found = submit("spark-submit --deploy-mode cluster job.py")
    assert f"spark.driver.defaultJavaOptions={OPTION}" in found
    assert EXECUTOR in found


@pytest.mark.parametrize("theirs", [None, "", "pyspark-shell"])
def test_a_python_program_has_it_in_the_variable(theirs: str | None) -> None:
    assert python(theirs) == f"--conf '{EXECUTOR}' pyspark-shell"


def test_the_variable_keeps_what_the_user_has() -> None:
    found = python("--jars '/a b.jar' --master spark://h:7077 pyspark-shell")
    assert found == f"--jars '/a b.jar' --master spark://h:7077 --conf '{EXECUTOR}' pyspark-shell"


def test_a_second_time_says_the_same_once() -> None:
    twice = shlex.split(python(python(None)) or "")
    assert twice[-2] == EXECUTOR


@pytest.mark.parametrize(
    "master", ["--master spark://h:7077", "--master=k8s://h", "--conf spark.master=spark://h:7077"]
)
def test_other_hosts_without_a_path_get_the_agent_from_spark(master: str, agent: Path) -> None:
    found = submit(f"spark-submit {master} --jars a.jar,b.jar --conf spark.plugins=x.Y job.py", jar=None)
    assert found[-11:] == (
        "--jars", f"a.jar,b.jar,{agent}", "--conf", f"spark.plugins=x.Y,{PLUGIN}", "--conf",
        "spark.executorEnv.BROKERNAT_MAP=a:1=b:2", "--conf", "spark.executorEnv.BROKERNAT_UNMAPPED=fail", "--conf",
        "spark.executor.defaultJavaOptions=-XX:+EnableDynamicAgentLoading", "job.py",
    )  # fmt: skip


def in_container(jvm: str) -> str:
    return f"spark.{jvm}.defaultJavaOptions=-javaagent:brokernat-agent.jar=a:1=b:2;unmapped=fail"


def test_containers_of_yarn_start_with_the_agent_that_yarn_puts_into_them(agent: Path) -> None:
    line = "spark-submit --master yarn --conf spark.yarn.dist.files=rules.txt --jars a.jar"
    assert submit(f"{line} job.py", jar=None) == (
        *line.split(), "--conf", f"spark.yarn.dist.files=rules.txt,{agent}", "--conf", in_container("executor"),
        "job.py",
    )  # fmt: skip


@pytest.mark.usefixtures("agent")
def test_a_driver_in_a_container_of_yarn_gets_it_too() -> None:
    found = submit("spark-submit --master yarn --deploy-mode cluster job.py", jar=None)
    assert in_container("driver") in found
    assert in_container("executor") in found


@pytest.mark.usefixtures("agent")
def test_a_job_on_yarn_may_set_jars_and_plugins_in_its_code(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text("builder.config('spark.jars', 'x').config('spark.plugins', 'x.Y')")
    assert submit(f"spark-submit --master yarn {job}", jar=None)[-1] == str(job)


def test_a_python_program_on_other_hosts_gets_it_by_the_variable(agent: Path) -> None:
    words = shlex.split(python("--master spark://h:7077 pyspark-shell", jar=None) or "")
    assert words[:4] == ["--master", "spark://h:7077", "--jars", str(agent)]
    assert words[-1] == "pyspark-shell"
    assert f"spark.plugins={PLUGIN}" in words


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("master", ["spark://h:7077", "yarn"])
def test_what_was_shipped_by_an_outer_exec_is_taken_out(master: str) -> None:
    more = "--jars a.jar --conf spark.plugins=x.Y --conf spark.yarn.dist.files=rules.txt"
    theirs = f"--master {master} {more} pyspark-shell"
    after = without_ours({"PYSPARK_SUBMIT_ARGS": python(theirs, jar=None) or ""})["PYSPARK_SUBMIT_ARGS"]
    assert "brokernat" not in after.lower()
    assert "--jars a.jar" in after
    assert "spark.plugins=x.Y" in after
    assert "spark.yarn.dist.files=rules.txt" in after


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    ("master", "by", "hint"), [("spark://h", "by a worker", "--copy-to"), ("k8s://h", "in a pod", "pod template")]
)
def test_a_driver_that_starts_before_any_jar_is_shipped_needs_a_path(master: str, by: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"the driver is started {by}") as caught:
        submit(f"spark-submit --master {master} --deploy-mode cluster job.py", jar=None)
    assert hint in str(caught.value.hint)
    assert "--agent-path" in str(caught.value.hint)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("setting", ["spark.jars", "spark.plugins"])
def test_a_job_that_takes_the_shipped_agent_out_again_needs_a_path(tmp_path: Path, setting: str) -> None:
    job = tmp_path / "job.py"
    job.write_text(f"builder.config('{setting}', 'x')")
    with pytest.raises(ConfigError, match=f"sets {setting} in its code") as caught:
        submit(f"spark-submit --master spark://h:7077 {job}", jar=None)
    assert "--agent-path" in str(caught.value.hint)
    job.write_text(f"builder.config('{setting}.packages', 'x')")
    assert submit(f"spark-submit --master spark://h:7077 {job}", jar=None)[-1] == str(job)


def test_nothing_is_changed_without_a_path() -> None:
    assert submit("spark-submit --master local[2] job.py", jar=None) == (
        "spark-submit", "--master", "local[2]", "job.py",
    )  # fmt: skip
    assert python("--name x pyspark-shell", jar=None) == "--name x pyspark-shell"


def test_a_relative_path_is_refused() -> None:
    with pytest.raises(ConfigError, match="is relative"):
        submit("spark-submit job.py", jar="brokernat-agent.jar")


@pytest.mark.parametrize(
    ("theirs", "left"),
    [
        (None, {}),
        ("--conf spark.executor.defaultJavaOptions=-Dmine=1 --jars '/a b.jar' pyspark-shell", None),
        ("--conf a=b pyspark-shell", None),
    ],
)
def test_an_outer_exec_is_taken_out(theirs: str | None, left: dict[str, str] | None) -> None:
    before = {} if theirs is None else {"PYSPARK_SUBMIT_ARGS": theirs}
    after = without_ours({"PYSPARK_SUBMIT_ARGS": python(theirs) or "", "KEPT": "="})
    assert "brokernat" not in str(after)
    assert after.pop("KEPT") == "="
    if left is not None:
        assert after == left
    else:
        first = shlex.split(before["PYSPARK_SUBMIT_ARGS"])
        assert shlex.split(after["PYSPARK_SUBMIT_ARGS"])[: len(first) - 1] == first[:-1]
    assert without_ours(before) == before


def test_words_that_no_shell_could_read_are_refused_only_where_spark_reads_them() -> None:
    environ = {"PYSPARK_SUBMIT_ARGS": "--conf 'spark.app.name=it is open"}
    assert without_ours(environ) == environ
    with pytest.raises(ConfigError, match="PYSPARK_SUBMIT_ARGS cannot be read: No closing quotation"):
        python(environ["PYSPARK_SUBMIT_ARGS"])


def test_the_files_of_a_job_go_with_it() -> None:
    line = "spark-submit --py-files lib.zip,more.py --files=rules.txt -c spark.a=b job.py --py-files not-ours.py"
    words = shlex.split(line)
    assert submit(line) == (*words[:6], "--conf", EXECUTOR, *words[6:])
