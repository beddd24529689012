package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads values of one format; not safe for threads. */
interface Decoder {
    /**
     * A record's value as a row: the fault (kind, message), null where there is none, and a field per column, all null
     * beside a fault. Nothing that a value may hold makes it throw.
     */
    InternalRow decode(byte[] value);

    /** The row of a value that cannot be read. */
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
