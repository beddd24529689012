"""Brokers' own files, read as Kafka reads them: what each listener binds, and what it tells clients. No network."""
