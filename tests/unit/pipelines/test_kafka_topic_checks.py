from brokernat.address import Endpoint
from brokernat.config import Cluster, Secret
from brokernat.pipelines.kafka.topic_checks import create_topic, grant, raise_message_size

SERVERS = (Endpoint("gw", 9093), Endpoint("gw", 9094))
HQ = Cluster("hq", SERVERS, client={"sasl.username": "app"})
AT = "--bootstrap-server gw:9093,gw:9094"


def test_a_right_on_a_topic_or_on_the_cluster() -> None:
    who = "--add --allow-principal User:app"
    assert grant(HQ, "READ", topic="orders") == f"kafka-acls.sh {AT} {who} --operation Read --topic orders"
    assert grant(HQ, "DESCRIBE_CONFIGS") == f"kafka-acls.sh {AT} {who} --operation DescribeConfigs --cluster"


def test_a_user_that_is_not_known_or_secret_is_left_to_be_filled_in() -> None:
    for client in ({}, {"sasl.username": Secret("canary")}):
        assert "--allow-principal User:... " in grant(Cluster("hq", SERVERS, client=client), "READ", topic="orders")


def test_topics_and_sizes() -> None:
    assert create_topic(HQ, "tags") == f"kafka-topics.sh {AT} --create --topic tags --partitions 3"
    assert "--entity-name tags --add-config max.message.bytes=2000," in raise_message_size(HQ, "tags", 2000)
