"""Reads brokers' files as Kafka reads them: what each listener binds and advertises. Uses no network."""
