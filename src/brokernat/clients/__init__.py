"""Existing Kafka clients, made to use an address map; each in its own module, loaded when it is used."""
