package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Decodes values of one format; not thread-safe. */
interface Decoder {
    /**
     * A record's value as a row: the fault (kind, message), null if there is none, and a field per column, all null if
     * there is a fault. No value makes it throw an exception.
     */
    InternalRow decode(byte[] value);

    /** The row of a value that cannot be decoded. */
    static InternalRow fault(int columns, String kind, String message) {
        Object[] row = new Object[columns + 1];
        row[0] = new GenericInternalRow(new Object[] {UTF8String.fromString(kind), UTF8String.fromString(message)});
        return new GenericInternalRow(row);
    }

    /** The row of a record without a value. */
    static InternalRow tombstone(int columns) {
        return fault(columns, "Tombstone", "the record has no value (a tombstone)");
    }
}
