package io.brokernat.spark;

/** A value of a tag that its schema has no place for. */
final class UnwritableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnwritableException(String format, String label, String what) {
        super("a tag does not fit its " + format + " schema: field `" + label + "`: " + what);
    }
}
