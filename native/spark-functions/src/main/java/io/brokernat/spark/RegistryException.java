package io.brokernat.spark;

/** A registry could not be asked, or its answer ends the run: nothing that a record is to blame for. */
class RegistryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RegistryException(String message) {
        super(message);
    }
}
