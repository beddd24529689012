package io.brokernat.spark;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** One Protobuf message to one row; behind a schema's id stands the place of the message in this schema. */
final class ProtobufDecoder extends SchemaDecoder {
    private final ProtobufSchema schema;
    private final String message;
    private final ProtobufMessage own;
    private final ProtobufBytes bytes = new ProtobufBytes();

    /** By id and the message's place: a ProtobufMessage, or a sentence that says why there is none. */
    private final Map<Integer, Map<List<Integer>, Object>> readers = new HashMap<>();

    private ProtobufDecoder(ProtobufSchema schema, String message, ProtobufMessage own, Registry registry) {
        super(registry, own.size());
        this.schema = schema;
        this.message = message;
        this.own = own;
    }

    /** @param registry null where values have no schema id. */
    static ProtobufDecoder of(ProtobufSchema schema, Registry registry) {
        String message = schema.byIndex.values().iterator().next();
        return new ProtobufDecoder(schema, message, new ProtobufMessage(schema, message, schema, message, ""), registry);
    }

    @Override
    InternalRow record(byte[] value, int from, int id) throws IOException, Registry.UnknownSchemaException {
        bytes.set(value, from);
        Object reader = registry == null ? own : reader(id, bytes.index());
        if (reader instanceof String) {
            return incompatible(id, (String) reader);
        }
        Object[] row = new Object[columns + 1];
        ((ProtobufMessage) reader).readInto(row, 1, bytes);
        ((ProtobufMessage) reader).finish(row, 1);
        return new GenericInternalRow(row);
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
}
