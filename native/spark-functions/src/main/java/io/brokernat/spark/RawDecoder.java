package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Returns a value unchanged in one column: BINARY, or STRING, which must be UTF-8. */
final class RawDecoder implements Decoder {
    private final boolean isText;

    RawDecoder(StructType columns) {
        isText = columns.length() == 1 && columns.fields()[0].dataType() instanceof StringType;
        if (!isText && (columns.length() != 1 || !(columns.fields()[0].dataType() instanceof BinaryType))) {
            throw new IllegalArgumentException("not one column of BINARY or STRING: " + columns.simpleString());
        }
    }

    @Override
    public InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(1);
        }
        if (isText && !Utf8.isValid(value)) {
            return Decoder.fault(1, "MalformedValue", "the value is not UTF-8");
        }
        return new GenericInternalRow(new Object[] {null, isText ? UTF8String.fromBytes(value) : value});
    }
}
