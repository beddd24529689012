"""Files of properties: for whom, in whose names, and written so that they are read back."""

import pytest
from tests.unit.clients.launch.conftest import cluster

from brokernat.clients.launch.console_tools import Names, properties_text, with_properties
from brokernat.config import Cluster
from brokernat.errors import ConfigError

FILE = "/proc/self/fd/30"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("kafka-topics.sh --list", "kafka-topics.sh --list --command-config FILE --bootstrap-server 172.10.1.40:9093"),
        ("/opt/kafka-topics --bootstrap-server b:1", "/opt/kafka-topics --bootstrap-server b:1 --command-config FILE"),
        ("kafka-topics --bootstrap-server=b:1", "kafka-topics --bootstrap-server=b:1 --command-config FILE"),
        ("kafka-console-producer --broker-list b:1", "kafka-console-producer --broker-list b:1 --producer.config FILE"),
        ("kcat -L", "kcat -F FILE -L"),
    ],
)
def test_where_each_tool_is_given_its_file(hq: Cluster, command: str, expected: str) -> None:
    words, file = with_properties(command.split(), hq)
    assert " ".join(words) == expected.replace("FILE", FILE)
    assert file.path == FILE
    assert "canary" in file.text
    assert "canary" not in repr(file) + file.about + " ".join(words)


def test_the_map_is_not_in_the_file(hq: Cluster) -> None:
    for tool in ("kafka-topics", "kcat"):
        _, file = with_properties([tool], hq)
        assert "brokernat" not in file.text
    assert "sasl.mechanism" in file.about


@pytest.mark.parametrize("command", ["java -jar app.jar", "python3 app.py"])
def test_a_program_that_is_not_known(hq: Cluster, command: str) -> None:
    with pytest.raises(ConfigError, match="is not known") as caught:
        with_properties(command.split(), hq)
    assert "kafka-console-consumer" in str(caught.value.hint)


@pytest.mark.parametrize(
    "command", ["kafka-topics --command-config x", "kafka-console-consumer --command-config=x", "kcat -F x"]
)
def test_a_file_of_their_own(hq: Cluster, command: str) -> None:
    with pytest.raises(ConfigError, match="already gets a properties file"):
        with_properties(command.split(), hq)


def test_a_system_without_files_in_memory(hq: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ConfigError, match="a file of client properties in memory needs Linux"):
        with_properties(["kafka-topics"], hq)


def test_javas_escapes() -> None:
    text = properties_text({"a b:c": " x\\y\n=é😀", "plain": "#1 = :"}, Names.KAFKA)
    assert text == "a\\ b\\:c=\\ x\\\\y\\n=\\u00e9\\ud83d\\ude00\nplain=#1 = :\n"


def test_a_line_for_kcat_holds_no_line_end() -> None:
    assert properties_text({"a": "b\\c"}, Names.LIBRDKAFKA) == "a=b\\c\n"
    with pytest.raises(ConfigError, match=r"ssl\.ca\.pem") as caught:
        properties_text({"ssl.ca.pem": "canary\n"}, Names.LIBRDKAFKA)
    assert "canary" not in caught.value.report()


def test_a_cluster_without_a_login_has_its_servers_in_the_file() -> None:
    _, file = with_properties(["kcat"], cluster("local", None))
    assert file.text == "bootstrap.servers=172.10.1.40:9093\n"
