"""Requests of a pipeline to brokers through Kafka's AdminClient: topics, ACLs, offsets."""
