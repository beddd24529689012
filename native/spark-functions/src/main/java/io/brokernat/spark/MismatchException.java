package io.brokernat.spark;

import java.io.IOException;

/** A value that has its schema's type and does not fit into its column. */
final class MismatchException extends IOException {
    private static final long serialVersionUID = 1;

    MismatchException(String label, String what) {
        super("field `" + label + "`: " + what);
    }
}
