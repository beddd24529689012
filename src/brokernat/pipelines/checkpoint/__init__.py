"""What stands beside Spark's checkpoint, and what Spark has committed there."""
