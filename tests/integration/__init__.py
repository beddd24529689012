"""A package, so that its world ends with its tests: idle brokers would slow those of one unit."""
