package io.brokernat.spark;

import java.io.IOException;

/** A value has the type of its schema but does not fit into its column. */
final class MismatchException extends IOException {
    private static final long serialVersionUID = 1;

    MismatchException(String label, String what) {
        super("field `" + label + "`: " + what);
    }
}
