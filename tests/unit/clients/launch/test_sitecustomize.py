"""The hook in a Python of its own: what it does to an import, and what it says when it cannot."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.vectors.map_texts import ROWS, prepared

from brokernat.clients.launch.environment import HOOK_FOLDER

LIBRARY = """\
class KafkaProducer:
    DEFAULT_CONFIG = {"kafka_client": None}
    def __init__(self, **configs): pass
class KafkaConsumer(KafkaProducer): DEFAULT_CONFIG = {"kafka_client": None}
class KafkaAdminClient(KafkaProducer): DEFAULT_CONFIG = {"kafka_client": None}
__version__ = "9.9"
"""
NETWORK = {
    "conn": """\
def dns_lookup(host, port, afi=0): return [(host, port)]
class BrokerConnection:
    def __init__(self, host, port, afi=0): self.host, self.port = host, port
    def _dns_lookup(self): self._gai = dns_lookup(self.host, self.port)
    def close(self, error=None): pass
""",
    "client_async": """\
from kafka.conn import BrokerConnection
class KafkaClient:
    def __init__(self, **config): self.config = config
    def _init_connect(self, node_id): return BrokerConnection(*node_id)
    def await_ready(self, node_id): pass
""",
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with something that is imported like kafka-python."""
    package = tmp_path / "kafka"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    (package / "errors.py").write_text("class KafkaConnectionError(Exception): pass\n")
    for name, text in NETWORK.items():
        (package / f"{name}.py").write_text(text)
    return tmp_path


def python(
    code: str, folder: Path, rules: str | None = "a:1=b:2", *options: str, unmapped: str = "pass"
) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": f"{HOOK_FOLDER}{os.pathsep}{folder}"}
    environ |= {"BROKERNAT_MAP": rules, "BROKERNAT_UNMAPPED": unmapped} if rules is not None else {}
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


UNTOUCHED = "{'kafka_client': None}\n"
SHOW = "import kafka; print(kafka.KafkaProducer.DEFAULT_CONFIG)"


def test_an_import_brings_the_map(library: Path) -> None:
    done = python(SHOW, library)
    assert "host='a', port=1" in done.stdout
    assert "Unmapped.PASS" in done.stdout
    assert done.stderr == ""


def test_an_address_without_a_rule_passes_unless_the_variable_is_set(library: Path) -> None:
    """As in `preload.c` and `AgentArgument.java`."""
    assert "Unmapped.PASS" in python(SHOW, library, unmapped="").stdout
    assert "Unmapped.FAIL" in python(SHOW, library, unmapped="fail").stdout


def test_without_a_map_or_without_the_hook_nothing_happens(library: Path) -> None:
    assert python(SHOW, library, None).stdout == UNTOUCHED
    assert (
        python(f"import sys; sys.path.insert(0, {str(library)!r}); {SHOW}", library, "a:1=b:2", "-I").stdout
        == UNTOUCHED
    )


def test_a_program_that_imports_neither_sees_nothing_of_us(library: Path) -> None:
    code = "import sys; print([name for name in sys.modules if name.startswith('brokernat')])"
    assert python(code, library).stdout == "[]\n"


MAKE = """
import kafka
for make in (kafka.KafkaProducer, kafka.KafkaConsumer, kafka.KafkaAdminClient):
    try:
        make(bootstrap_servers="a:1")
        print("made")
    except ConnectionRefusedError as error:
        print(error)
    make(kafka_client="with a map of its own")
"""


def test_where_the_map_cannot_be_used_no_client_is_made_and_the_reason_is_told(library: Path) -> None:
    done = python(MAKE, library, "a:1=b")
    words = (
        "refused: the address map of this process (BROKERNAT_MAP) cannot be used for kafka: rule `a:1=b`: only the "
        "advertised side has a port: line 1, column 1; hint: write `a:1 = b:1`, or `a = b` to keep every port"
    )
    assert done.stdout.splitlines() == [words] * 3, done.stderr
    assert done.stderr == f"[brokernat] {words}\n"


CONNECT = """
from kafka.conn import BrokerConnection
from kafka.client_async import KafkaClient
for connection in (BrokerConnection("a", 1), KafkaClient(bootstrap_servers="b:2")._init_connect(("a", 1))):
    connection._dns_lookup()
    print(connection._gai)
"""


def test_a_program_that_connects_itself_has_the_map_or_is_refused(library: Path) -> None:
    assert python(CONNECT, library).stdout == "[('b', 2)]\n" * 2
    refused = python(CONNECT, library, "a:1=b")
    assert refused.stdout == ""
    assert (
        "ConnectionRefusedError: refused: the address map of this process (BROKERNAT_MAP) cannot be" in refused.stderr
    )


def test_a_connection_of_aiokafka_that_a_program_makes_itself_is_refused(tmp_path: Path) -> None:
    code = """
import asyncio
from aiokafka.conn import AIOKafkaConnection
async def connect(): await AIOKafkaConnection("127.0.0.1", 1).connect()
asyncio.run(connect())
"""
    refused = "ConnectionRefusedError: refused: the address map of this process (BROKERNAT_MAP) cannot be used for aio"
    assert python(code, tmp_path, "a:1=b").stderr.splitlines()[-1].startswith(refused)
    assert not python(code, tmp_path).stderr.splitlines()[-1].startswith(refused)


def test_no_rule_and_an_order_to_refuse(library: Path) -> None:
    """A variable that was not filled in. Without the order an empty one is no map."""
    assert python(SHOW, library, "").stdout == UNTOUCHED
    done = python(MAKE, library, " ", unmapped="fail")
    assert done.stdout.count("BROKERNAT_MAP has no rule and BROKERNAT_UNMAPPED is fail") == 3, done.stdout + done.stderr


def test_a_library_without_a_place_for_the_map_is_refused(library: Path) -> None:
    """Kafka-python before 2.1 has no argument `kafka_client` and would dial past the map."""
    (library / "kafka" / "__init__.py").write_text(LIBRARY.replace('"kafka_client": None', ""))
    assert python(MAKE, library).stdout.count("kafka-python 9.9 has no argument `kafka_client`") == 3


def test_something_else_of_that_name_is_left_alone(library: Path) -> None:
    (library / "kafka" / "__init__.py").write_text("NAME = 'a novelist'\n")
    done = python("import kafka; print(kafka.NAME)", library)
    assert done.stdout == "a novelist\n"
    assert done.stderr == "[brokernat] the module kafka is not a known Kafka library; it gets no map\n"


def test_an_old_python_is_refused(library: Path) -> None:
    # As near as one comes with one Python: the number is what the hook looks at.
    done = python(f"import sys; sys.version_info = (3, 9, 2); {MAKE}", library)
    assert done.stdout.count("cannot be used for kafka: needs Python 3.11 or newer, this is 3.9.2") == 3


def test_the_syntax_is_that_of_an_old_python() -> None:
    import ast

    ast.parse((HOOK_FOLDER / "sitecustomize.py").read_text(), feature_version=(3, 6))


def test_a_sitecustomize_behind_ours_is_run_and_its_errors_are_its_own(library: Path) -> None:
    (library / "sitecustomize.py").write_text("import builtins; builtins.was_here = __file__\n")
    code = "import sys; print(was_here == sys.modules['sitecustomize'].__file__); import kafka"
    done = python(code, library)
    assert (done.stdout, done.stderr) == ("True\n", "")
    (library / "sitecustomize.py").write_text("raise RuntimeError('theirs')\n")
    done = python(SHOW, library)
    assert "theirs" in done.stderr
    assert "host='a', port=1" in done.stdout


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_texts_of_a_map(row: dict[str, Any], tmp_path: Path, library: Path) -> None:
    text = prepared(row, tmp_path)
    done = python(MAKE, library, text.map, unmapped=text.unmapped or "")
    if text.reason is None:
        assert done.stdout == "made\n" * 3
        assert done.stderr == ""
    else:
        refusals = done.stdout.splitlines()
        assert len(refusals) == 3
        assert set(refusals) == {refusals[0]}
        text.assert_told(refusals[0])


def test_modules_of_one_archive_are_told_apart(library: Path, tmp_path: Path) -> None:
    """One zipimporter loads them all."""
    archive = tmp_path / "deps.zip"
    with zipfile.ZipFile(archive, "w") as content:
        for file in (library / "kafka").iterdir():
            content.write(file, f"kafka/{file.name}")
        content.writestr("application.py", "NAME = 'mine'\n")
    done = python(f"{SHOW}; import application; print(application.NAME)", archive)
    assert "host='a', port=1" in done.stdout, done.stderr
    assert done.stdout.endswith("mine\n"), done.stderr


def test_a_folder_called_brokernat_beside_the_program_is_not_taken_for_the_package(library: Path) -> None:
    (library / "brokernat").mkdir()
    done = python(SHOW, library)
    assert "host='a', port=1" in done.stdout, done.stderr


def test_a_library_that_was_imported_before_the_hook_gets_the_map_too(library: Path) -> None:
    """As a `.pth` file of the environment may do it."""
    hook = f"import runpy; runpy.run_path({str(HOOK_FOLDER / 'sitecustomize.py')!r})"
    code = f"import sys; sys.path.insert(0, {str(library)!r}); import kafka; {hook}; {SHOW}"
    environ = {**os.environ, "BROKERNAT_MAP": "a:1=b:2", "BROKERNAT_UNMAPPED": "pass"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert "host='a', port=1" in done.stdout, done.stderr
