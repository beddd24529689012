"""Lets unmodified Kafka clients reach brokers whose advertised addresses they cannot dial."""

__version__ = "0.1.0"
