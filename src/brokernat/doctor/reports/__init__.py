"""A diagnosis as text or data: a report reads findings and computes none."""
