"""Unmodified Kafka clients against brokers whose advertised addresses they cannot reach."""

__version__ = "0.1.0"
