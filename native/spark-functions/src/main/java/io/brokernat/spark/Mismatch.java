package io.brokernat.spark;

/** The first type mismatch of one record, or of a part of it, in the order of the schema. */
final class Mismatch {
    /** Null if there is no mismatch. */
    String sentence;

    /** The index in the schema of the outermost field with the mismatch. */
    int field;

    /** Keeps the first mismatch of a value. */
    void first(String found) {
        if (sentence == null) {
            sentence = found;
        }
    }
}
