"""A diagnosis as text or data; reports compute no findings."""
