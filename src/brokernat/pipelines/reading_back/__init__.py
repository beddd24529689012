"""Reads written records back: gaps and duplicates, dead letters for a replay, offsets after a lost checkpoint."""
