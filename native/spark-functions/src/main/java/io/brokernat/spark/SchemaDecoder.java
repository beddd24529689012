package io.brokernat.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Decodes one record of a schema to one row.
 *
 * <p>With a registry a value begins with a zero byte and the four bytes of its schema's id (Confluent's wire format),
 * and is read with the schema that it was written with. Without one, all values are written with the schema of the
 * columns.
 */
abstract class SchemaDecoder implements Decoder {
    static final int NO_ID = -1;
    static final int MOST_SCHEMAS = 1_000;
    private static final int HEADER = 5;

    /** Null if values have no schema id. */
    final Registry registry;
    final int columns;

    SchemaDecoder(Registry registry, int columns) {
        this.registry = registry;
        this.columns = columns;
    }

    /**
     * The row of a record.
     *
     * @param from the index of its first byte in the value.
     * @param id of its schema, or {@link #NO_ID}.
     * @throws IOException if the bytes do not fit the schema, or {@link MismatchException}.
     */
    abstract InternalRow record(byte[] value, int from, int id) throws IOException, Registry.UnknownSchemaException;

    @Override
    public final InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(columns);
        }
        int from = 0, id = NO_ID;
        if (registry != null) {
            if (value.length < HEADER || value[0] != 0) {
                String message = "the value does not begin with a zero byte and a schema id";
                return Decoder.fault(columns, "MalformedValue", message);
            }
            from = HEADER;
            id = ByteBuffer.wrap(value).getInt(1);
        }
        try {
            return record(value, from, id);
        } catch (Registry.UnknownSchemaException unknown) {
            return Decoder.fault(columns, "UnknownSchema", unknown.getMessage());
        } catch (MismatchException mismatch) {
            return Decoder.fault(columns, "WrongType", mismatch.getMessage());
        } catch (IOException error) {
            return malformed(id, error.getMessage());
        }
    }

    final InternalRow malformed(int id, String what) {
        return Decoder.fault(columns, "MalformedValue", "the value does not fit " + schemaOf(id) + ": " + what);
    }

    final InternalRow incompatible(int id, String why) {
        return Decoder.fault(columns, "IncompatibleSchema", "the value has " + schemaOf(id) + ": " + why);
    }

    private static String schemaOf(int id) {
        return id == NO_ID ? "the schema" : "schema id " + id;
    }
}
