package io.brokernat.spark;

import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Writes rows as values of one format; not safe for threads. */
interface Encoder {
    /** @throws UnwritableException a column has a value that the schema has no place for */
    byte[] encode(InternalRow tag);

    /**
     * @param id of the schema in a registry; null where values have none.
     * @throws IllegalArgumentException the type has other columns than the schema, or the format is unknown
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
