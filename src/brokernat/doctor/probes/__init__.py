"""Look, and write down what was seen: no probe knows what is good or bad, and none changes anything on the cluster."""
