"""Says what is wrong between here and every broker: probes look, evidence keeps what was seen, checks judge it."""
