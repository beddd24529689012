"""Kafka to Kafka on Spark Structured Streaming: steps on frames, run in `batch.py` or `realtime.py`."""
