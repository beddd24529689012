"""What a pipeline asks of brokers beside its records, by Spark's own admin client."""
