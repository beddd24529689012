"""`brokernat demo`: unreachable brokers on this machine, a failing job, and the same job with an address map."""
