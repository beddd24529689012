package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A struct as {@link Encoder} writes it.
 *
 * <p>A value that the schema has no place for (null, an unknown symbol) ends the task: a tag that was made may not
 * disappear, and it is no fault of the record that it was made of.
 */
public final class EncodeFunction implements UnboundFunction, ScalarFunction<byte[]> {
    private static final long serialVersionUID = 1;

    private final String format;
    private final String schema;
    private final Integer id;
    private StructType type;
    private transient Encoder encoder;

    /** @param id of the schema in a registry; null where values have none. */
    EncodeFunction(String format, String schema, Integer id) {
        this.format = format;
        this.schema = schema;
        this.id = id;
    }

    /** Spark looks for this name (ScalarFunction.MAGIC_METHOD_NAME) and calls it without a row around the argument. */
    public byte[] invoke(InternalRow tag) {
        // Tasks of one JVM have copies of their own.
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
        // A type that the schema does not have is refused while the query is analysed, and not by its tasks.
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
