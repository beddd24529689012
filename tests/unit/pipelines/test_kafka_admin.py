from brokernat.pipelines.kafka.admin import without_secrets


def test_words_of_secrets_are_left_out_and_the_rest_stays() -> None:
    properties = {"sasl.jaas.config": 'PlainLoginModule required username="u" password="canary-1";', "acks": "canary"}
    told = without_secrets("JAAS config: 'canary-1' after password, PlainLoginModule, acks=canary", properties)
    assert "canary-1" not in told
    assert "acks=canary" in told
