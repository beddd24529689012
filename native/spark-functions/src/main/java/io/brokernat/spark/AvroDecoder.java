package io.brokernat.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Schema;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * One Avro record in binary encoding to one row.
 *
 * <p>With a registry a value begins with a zero byte and the four bytes of its schema's id (Confluent's wire format);
 * each value is read by the schema that it was written with. Without one, all values are written with the schema of the
 * columns. Bytes behind the record are a fault: they are the sign of another schema.
 */
final class AvroDecoder implements Decoder {
    private static final int HEADER = 5;
    private static final int MOST_SCHEMAS = 1_000;
    private static final int NO_ID = -1;

    private final Schema readerSchema;
    private final AvroReader.Row record;
    private final int columns;
    private final Registry registry;
    private final AvroBytes bytes = new AvroBytes();
    private final Map<Integer, ResolvingDecoder> resolvers = new HashMap<>();

    /** @param registry null where values have no schema id. */
    AvroDecoder(Schema readerSchema, StructType schema, Registry registry) {
        this.readerSchema = readerSchema;
        this.registry = registry;
        columns = schema.length();
        record = new AvroReader.Row(readerSchema, schema, "");
    }

    @Override
    public InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(columns);
        }
        if (registry == null) {
            return record(value, 0, NO_ID, readerSchema);
        }
        if (value.length < HEADER || value[0] != 0) {
            String message = "the value does not begin with a zero byte and a schema id";
            return Decoder.fault(columns, "MalformedValue", message);
        }
        int id = ByteBuffer.wrap(value).getInt(1);
        try {
            return record(value, HEADER, id, resolvers.containsKey(id) ? null : (Schema) registry.schema(id, Registry.AVRO));
        } catch (Registry.UnknownSchemaException unknown) {
            return Decoder.fault(columns, "UnknownSchema", unknown.getMessage());
        }
    }

    private InternalRow record(byte[] value, int from, int id, Schema writerSchema) {
        Object[] row = new Object[columns + 1];
        try {
            ResolvingDecoder in = resolver(id, writerSchema);
            bytes.set(value, from);
            // Also what a value before this one has left in the middle ends here.
            in.configure(bytes);
            record.readInto(row, 1, in);
            in.drain();
            if (bytes.left() > 0) {
                return malformed(id, "there are " + bytes.left() + " bytes behind the record");
            }
            return new GenericInternalRow(row);
        } catch (MismatchException mismatch) {
            return Decoder.fault(columns, "WrongType", mismatch.getMessage());
        } catch (AvroTypeException incompatible) {
            String message = "the value has " + schemaOf(id) + ": " + firstLine(incompatible.getMessage());
            return Decoder.fault(columns, "IncompatibleSchema", message);
        } catch (IOException error) {
            return malformed(id, error.getMessage());
        } catch (RuntimeException | StackOverflowError error) {
            // Avro's parser takes a branch of a union or a symbol of an enumeration as it comes.
            return malformed(id, "a union or an enumeration has no such member");
        }
    }

    private ResolvingDecoder resolver(int id, Schema writerSchema) throws IOException {
        ResolvingDecoder known = resolvers.get(id);
        if (known == null) {
            if (resolvers.size() >= MOST_SCHEMAS) {
                resolvers.clear();
            }
            known = DecoderFactory.get().resolvingDecoder(writerSchema, readerSchema, bytes);
            resolvers.put(id, known);
        }
        return known;
    }

    private InternalRow malformed(int id, String what) {
        return Decoder.fault(columns, "MalformedValue", "the value does not fit " + schemaOf(id) + ": " + what);
    }

    private static String schemaOf(int id) {
        return id == NO_ID ? "the schema" : "schema id " + id;
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }
}
