package io.brokernat.spark;

/** A registry is unavailable or rejects requests for now: a retry may succeed. */
final class RegistryNotAvailableException extends RegistryException {
    private static final long serialVersionUID = 1;

    RegistryNotAvailableException(String message) {
        super(message);
    }
}
