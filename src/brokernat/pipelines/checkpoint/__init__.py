"""The files next to Spark's checkpoint, and the offsets that Spark has committed."""
