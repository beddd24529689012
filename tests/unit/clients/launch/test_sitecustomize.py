"""The hook in a Python of its own: what it does to an import, and what it says when it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brokernat.clients.launch.environment import HOOK_FOLDER

LIBRARY = """\
class KafkaProducer: DEFAULT_CONFIG = {}
class KafkaConsumer: DEFAULT_CONFIG = {}
class KafkaAdminClient: DEFAULT_CONFIG = {}
__version__ = "9.9"
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with something that is imported like kafka-python."""
    package = tmp_path / "kafka"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    (package / "errors.py").write_text("class KafkaConnectionError(Exception): pass\n")
    return tmp_path


def python(code: str, folder: Path, rules: str | None = "a:1=b:2", *options: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": f"{HOOK_FOLDER}{os.pathsep}{folder}"}
    environ |= {"BROKERNAT_MAP": rules, "BROKERNAT_UNMAPPED": "pass"} if rules is not None else {}
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


SHOW = "import kafka; print(kafka.KafkaProducer.DEFAULT_CONFIG)"


def test_an_import_brings_the_map(library: Path) -> None:
    done = python(SHOW, library)
    assert "host='a', port=1" in done.stdout
    assert "Unmapped.PASS" in done.stdout
    assert done.stderr == ""


def test_without_a_map_or_without_the_hook_nothing_happens(library: Path) -> None:
    assert python(SHOW, library, None).stdout == "{}\n"
    assert (
        python(f"import sys; sys.path.insert(0, {str(library)!r}); {SHOW}", library, "a:1=b:2", "-I").stdout == "{}\n"
    )


def test_a_program_that_imports_neither_sees_nothing_of_us(library: Path) -> None:
    code = "import sys; print([name for name in sys.modules if name.startswith('brokernat')])"
    assert python(code, library).stdout == "[]\n"


@pytest.mark.parametrize(
    ("rules", "said"), [("no-rule", "no address map for kafka in Python"), ("a:1=b", "no address map for kafka in")]
)
def test_what_cannot_be_brought_in_is_one_line_and_the_program_goes_on(library: Path, rules: str, said: str) -> None:
    done = python(SHOW, library, rules)
    assert done.stdout == "{}\n"
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_something_else_of_that_name_is_left_alone(library: Path) -> None:
    (library / "kafka" / "__init__.py").write_text("NAME = 'a novelist'\n")
    done = python("import kafka; print(kafka.NAME)", library)
    assert done.stdout == "a novelist\n"
    assert "no address map for kafka" in done.stderr


def test_an_old_python_says_so(library: Path) -> None:
    # As near as one comes with one Python: the number is what the hook looks at.
    code = f"import sys; sys.version_info = (3, 9, 2); {SHOW}"
    done = python(code, library)
    assert done.stdout == "{}\n"
    assert done.stderr == "[brokernat] no address map for kafka in Python 3.9.2: needs Python 3.11 or newer\n"


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
