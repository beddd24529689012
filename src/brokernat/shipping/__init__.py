"""Logs to a Kafka topic without losing any: memory queue, durable spool, a producer with the address map."""
