"""Address maps for existing Kafka clients; each client has its own module, imported on use."""
