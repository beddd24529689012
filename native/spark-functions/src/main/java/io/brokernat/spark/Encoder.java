package io.brokernat.spark;

import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Encodes rows as values of one format; not thread-safe. */
interface Encoder {
    /** @throws UnwritableException if the schema does not allow the value of a column */
    byte[] encode(InternalRow tag);

    /**
     * @param id of the schema in a registry; null if values have none.
     * @throws IllegalArgumentException if the type and the schema have different columns, or the format is unknown
     */
    static Encoder of(String format, String schema, Integer id, StructType type) {
        switch (format) {
            case "avro":
                return new AvroEncoder(new Schema.Parser().parse(schema), id, type);
            case "protobuf":
                return new ProtobufEncoder(ProtobufSchema.of(schema), id, type);
            default:
                throw new IllegalArgumentException(format);
        }
    }
}
