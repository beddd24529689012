package io.brokernat.spark;

/** A registry was away, or refused for now: another attempt may work. */
final class RegistryNotAvailableException extends RegistryException {
    private static final long serialVersionUID = 1;

    RegistryNotAvailableException(String message) {
        super(message);
    }
}
