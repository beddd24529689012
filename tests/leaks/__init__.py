"""What clients of every family receive through `brokernat proxy`, byte for byte, written without a look at its code."""
