"""What was written is read back: gaps and duplicates, and dead letters for a replay."""
