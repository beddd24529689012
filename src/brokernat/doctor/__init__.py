"""Finds faults between this machine and every broker: probes collect evidence, checks judge it."""
