package io.brokernat.spark;

/** The schema of a tag does not allow its value. */
final class UnwritableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnwritableException(String format, String label, String what) {
        super("a tag does not fit its " + format + " schema: field `" + label + "`: " + what);
    }
}
