"""What is said beforehand."""

import pytest
from tests.unit.clients.launch.conftest import MakeProgram, elf

from brokernat.clients.launch.doubts import doubts
from brokernat.clients.launch.kinds import recognise
from brokernat.clients.launch.program import find_program
from brokernat.errors import ConfigError


def said(path: object, *words: str) -> list[str]:
    found = find_program(str(path), {})
    return list(doubts(found, recognise(found), [str(path), *words]))


@pytest.mark.parametrize("words", ["-I a.py", "-uE a.py", "-W error -S a.py", "-Es -c 0"])
def test_a_python_that_reads_no_hook(program: MakeProgram, words: str) -> None:
    (text,) = said(program("python3", b"\0"), *words.split())
    assert "kafka-python and aiokafka are not served" in text


@pytest.mark.parametrize(
    "words", ["a.py -I", "-u a.py -E", "-c -S", "-m pkg -I", "-X importtime a.py", "-W -I a.py", ""]
)
def test_options_of_the_script_are_not_pythons(program: MakeProgram, words: str) -> None:
    assert said(program("python3", b"\0"), *words.split()) == []


def test_the_first_line_of_a_script_counts(program: MakeProgram) -> None:
    assert "Python with -I" in said(program("tool", "#!/usr/bin/python3 -I\n"), "x")[0]


def test_programs_with_an_environment_of_their_own(program: MakeProgram) -> None:
    assert "put `brokernat exec` behind it" in said(program("sudo", elf(needed=["libc.so.6"])))[0]


@pytest.mark.parametrize("words", ["-i kcat", "- kcat", "-i A=b java x", "--ignore-environment kcat", "-vi kcat"])
def test_an_env_that_takes_everything_away(program: MakeProgram, words: str) -> None:
    (text,) = said(program("env", elf(needed=["libc.so.6"])), *words.split())
    assert "put `brokernat exec` behind it" in text


@pytest.mark.parametrize("words", ["A=b kcat -i", "-u A kcat", "-C /tmp kcat", "kcat - -i", "-v kcat"])
def test_an_env_that_hands_on_what_it_has(program: MakeProgram, words: str) -> None:
    assert said(program("env", elf(needed=["libc.so.6"])), *words.split()) == []


def test_librdkafka_that_may_be_built_in(program: MakeProgram) -> None:
    assert "built in" in said(program("app", elf(needed=["libc.so.6"], extra=b"rd_kafka_new\0")))[0]
    assert said(program("kcat", elf(needed=["librdkafka.so.1"], extra=b"rd_kafka_new\0"))) == []


@pytest.mark.parametrize(("version", "refused"), [("1.8.0_412", True), ("10.0.2", True), ("11.0.1", False)])
def test_java_by_its_release_file(program: MakeProgram, version: str, refused: bool) -> None:
    java = program("jdk/bin/java", elf(needed=["libjli.so"]))
    (java.parent.parent / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    if not refused:
        assert said(java) == []
        return
    with pytest.raises(ConfigError, match=f"Java {version}, and the agent needs 11"):
        said(java)


@pytest.mark.parametrize(
    ("modules", "refused"), [("java.base java.logging", True), ("java.base java.instrument", False)]
)
def test_java_of_an_image_that_has_no_agents(program: MakeProgram, modules: str, refused: bool) -> None:
    java = program("image/bin/java", elf(needed=["libjli.so"]))
    (java.parent.parent / "release").write_text(f'JAVA_VERSION="17.0.9"\nMODULES="{modules}"\n')
    if not refused:
        assert said(java) == []
        return
    with pytest.raises(ConfigError, match=r"without the module java\.instrument"):
        said(java)
