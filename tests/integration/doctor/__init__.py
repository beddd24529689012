"""A package, so that fixtures of scope `package` end with this folder: idle brokers would slow the next one."""
