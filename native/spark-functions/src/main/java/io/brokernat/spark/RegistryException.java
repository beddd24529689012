package io.brokernat.spark;

/** A registry cannot be used, or its answer ends the run; not a fault of a record. */
class RegistryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RegistryException(String message) {
        super(message);
    }
}
