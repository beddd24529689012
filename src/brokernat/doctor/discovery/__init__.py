"""Finds an address map from bootstrap servers and candidate endpoints; every rule is proven by a connection."""
