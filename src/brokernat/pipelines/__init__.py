"""Kafka to Kafka on Spark Structured Streaming: one step per module, wired in `pipeline.py` and nowhere else."""
