package io.brokernat.spark;

/** What is wrong with the types of one record, or of a part of it: the first mismatch in the order of the schema. */
final class Mismatch {
    /** Null as long as everything has its type. */
    String sentence;

    /** The place in the schema of the outermost field that {@code sentence} is about. */
    int field;

    /** Of two mismatches of one value the first one counts. */
    void first(String found) {
        if (sentence == null) {
            sentence = found;
        }
    }
}
