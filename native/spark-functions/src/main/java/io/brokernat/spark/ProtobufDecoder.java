package io.brokernat.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * One Protobuf message to one row.
 *
 * <p>With a registry a value begins with a zero byte, the four bytes of its schema's id and the place of its message in
 * this schema (Confluent's wire format); each value is read by the schema that it was written with. Without one, all
 * values are of the message that the columns are of.
 */
final class ProtobufDecoder implements Decoder {
    private static final int HEADER = 5;
    private static final int MOST_SCHEMAS = 1_000;
    private static final int NO_ID = -1;

    private final ProtobufSchema schema;
    private final String message;
    private final Registry registry;
    private final ProtobufMessage own;
    private final ProtobufBytes bytes = new ProtobufBytes();

    /** By id and the message's place: a ProtobufMessage, or a sentence that says why there is none. */
    private final Map<Integer, Map<List<Integer>, Object>> readers = new HashMap<>();

    /** @param registry null where values have no schema id. */
    ProtobufDecoder(ProtobufSchema schema, Registry registry) {
        this.schema = schema;
        this.registry = registry;
        message = schema.byIndex.values().iterator().next();
        own = new ProtobufMessage(schema, message, schema, message, "");
    }

    @Override
    public InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(own.size());
        }
        if (registry == null) {
            bytes.set(value, 0);
            return record(NO_ID, own);
        }
        if (value.length < HEADER || value[0] != 0) {
            String sentence = "the value does not begin with a zero byte and a schema id";
            return Decoder.fault(own.size(), "MalformedValue", sentence);
        }
        int id = ByteBuffer.wrap(value).getInt(1);
        bytes.set(value, HEADER);
        try {
            Object reader = reader(id, bytes.index());
            if (reader instanceof ProtobufMessage) {
                return record(id, (ProtobufMessage) reader);
            }
            String sentence = "the value has schema id " + id + ": " + reader;
            return Decoder.fault(own.size(), "IncompatibleSchema", sentence);
        } catch (Registry.UnknownSchemaException unknown) {
            return Decoder.fault(own.size(), "UnknownSchema", unknown.getMessage());
        } catch (IOException error) {
            return malformed(id, error.getMessage());
        }
    }

    private InternalRow record(int id, ProtobufMessage reader) {
        Object[] row = new Object[own.size() + 1];
        try {
            reader.readInto(row, 1, bytes);
            reader.finish(row, 1);
            return new GenericInternalRow(row);
        } catch (MismatchException mismatch) {
            return Decoder.fault(own.size(), "WrongType", mismatch.getMessage());
        } catch (IOException error) {
            return malformed(id, error.getMessage());
        }
    }

    private Object reader(int id, List<Integer> index) throws IOException, Registry.UnknownSchemaException {
        Map<List<Integer>, Object> known = readers.get(id);
        if (known != null && known.containsKey(index)) {
            return known.get(index);
        }
        ProtobufSchema writer = (ProtobufSchema) registry.schema(id, Registry.PROTOBUF);
        String written = writer.byIndex.get(index);
        if (written == null) {
            throw new IOException("it has no message at the place that the value names");
        }
        if (readers.size() >= MOST_SCHEMAS) {
            readers.clear();
        }
        Object reader = reader(writer, written);
        readers.computeIfAbsent(id, unknown -> new HashMap<>()).put(index, reader);
        return reader;
    }

    private Object reader(ProtobufSchema writer, String written) {
        if (!written.equals(message)) {
            return "it is a `" + written + "`, expected a `" + message + "`";
        }
        try {
            return new ProtobufMessage(writer, written, schema, message, "");
        } catch (ProtobufReader.IncompatibleException incompatible) {
            return incompatible.getMessage();
        }
    }

    private InternalRow malformed(int id, String what) {
        String which = id == NO_ID ? "the schema" : "schema id " + id;
        return Decoder.fault(own.size(), "MalformedValue", "the value does not fit " + which + ": " + what);
    }
}
