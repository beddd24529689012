package io.brokernat.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Calls a {@link Decoder}: BINARY to a struct of the fault and the columns of the {@link Format}. */
public final class DecodeFunction implements UnboundFunction, ScalarFunction<InternalRow> {
    private static final long serialVersionUID = 1;
    private static final String FAULT = "brokernat_fault";

    private final Format format;
    private transient Decoder decoder;

    DecodeFunction(Format format) {
        this.format = format;
    }

    /** Spark calls a method of this name (ScalarFunction.MAGIC_METHOD_NAME) without a row around the argument. */
    public InternalRow invoke(byte[] value) {
        // A task has its own copy, but the driver's is shared: creating a second decoder is harmless.
        Decoder ready = decoder;
        if (ready == null) {
            decoder = ready = format.decoder();
        }
        return ready.decode(value);
    }

    @Override
    public BoundFunction bind(StructType arguments) {
        if (arguments.length() != 1 || !(arguments.fields()[0].dataType() instanceof BinaryType)) {
            throw new UnsupportedOperationException("decode takes one BINARY column, not " + arguments.simpleString());
        }
        // A type that the format does not support fails in the analysis of the query, not in its tasks.
        decoder = format.decoder();
        return this;
    }

    @Override
    public DataType[] inputTypes() {
        return new DataType[] {DataTypes.BinaryType};
    }

    @Override
    public DataType resultType() {
        StructType fault = new StructType().add("kind", DataTypes.StringType).add("message", DataTypes.StringType);
        StructType result = new StructType().add(FAULT, fault);
        for (StructField field : format.columns.fields()) {
            // In a record with a fault every field is null, also a NOT NULL one.
            result = result.add(field.name(), field.dataType(), true);
        }
        return result;
    }

    @Override
    public boolean isResultNullable() {
        return false;
    }

    @Override
    public String name() {
        return "decode";
    }

    @Override
    public String canonicalName() {
        return "brokernat.decode(" + format + ")";
    }

    @Override
    public String description() {
        return "decode(BINARY): a value to columns, strictly; what does not have its type is a fault";
    }
}
