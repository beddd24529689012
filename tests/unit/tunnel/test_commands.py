"""The command line of a user's template."""

from brokernat.address import Endpoint
from brokernat.tunnel.commands import via_words
from brokernat.tunnel.forwarder import Forward

LOCAL = Endpoint("127.0.0.1", 20001)
POD = "my-cluster-kafka-0.my-cluster-kafka-brokers.kafka.svc"


def forward(target: str) -> Forward:
    return Forward(Endpoint.parse(target), LOCAL)


def test_a_template_is_split_before_names_are_put_in() -> None:
    template = "aws ssm start-session --parameters 'host={host},portNumber={port},localPortNumber={local}'"
    assert via_words(forward(f"{POD}:9092"), template) == [
        "aws", "ssm", "start-session", "--parameters", f"host={POD},portNumber=9092,localPortNumber=20001",
    ]  # fmt: skip
