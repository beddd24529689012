package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Calls an {@link Encoder} for a struct.
 *
 * <p>A value that the schema does not allow (null, an unknown symbol) fails the task: a tag must not disappear, and the
 * source record has no fault.
 */
public final class EncodeFunction implements UnboundFunction, ScalarFunction<byte[]> {
    private static final long serialVersionUID = 1;

    private final String format;
    private final String schema;
    private final Integer id;
    private StructType type;
    private transient Encoder encoder;

    /** @param id of the schema in a registry; null if values have none. */
    EncodeFunction(String format, String schema, Integer id) {
        this.format = format;
        this.schema = schema;
        this.id = id;
    }

    /** Spark calls a method of this name (ScalarFunction.MAGIC_METHOD_NAME) without a row around the argument. */
    public byte[] invoke(InternalRow tag) {
        // Each task has its own copy.
        if (encoder == null) {
            encoder = Encoder.of(format, schema, id, type);
        }
        return encoder.encode(tag);
    }

    @Override
    public BoundFunction bind(StructType arguments) {
        if (arguments.length() != 1 || !(arguments.fields()[0].dataType() instanceof StructType)) {
            throw new UnsupportedOperationException("encode takes one STRUCT column, not " + arguments.simpleString());
        }
        type = (StructType) arguments.fields()[0].dataType();
        // A type that does not fit the schema fails in the analysis of the query, not in its tasks.
        Encoder.of(format, schema, id, type);
        return this;
    }

    @Override
    public DataType[] inputTypes() {
        return new DataType[] {type};
    }

    @Override
    public DataType resultType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String name() {
        return "encode";
    }

    @Override
    public String canonicalName() {
        return "brokernat.encode(" + format + "," + id + "," + schema + ")";
    }

    @Override
    public String description() {
        return "encode(STRUCT): columns to a record of a schema";
    }
}
