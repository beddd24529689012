package io.brokernat.spark;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/** Decodes one Protobuf message to one row; after the schema's id follows the path of the message in this schema. */
final class ProtobufDecoder extends SchemaDecoder {
    private final Descriptor message;
    private final ProtobufMessage own;
    private final ProtobufBytes bytes = new ProtobufBytes();

    /** By id and the message's path: a ProtobufMessage, or the reason why there is none. */
    private final Map<Integer, Map<List<Integer>, Object>> readers = new HashMap<>();

    /** @param registry null if values have no schema id. */
    ProtobufDecoder(Descriptor message, Registry registry) {
        super(registry, message.getFields().size());
        this.message = message;
        own = new ProtobufMessage(message, message, "");
    }

    @Override
    InternalRow record(byte[] value, int from, int id) throws IOException, Registry.UnknownSchemaException {
        try {
            bytes.set(value, from);
            Object reader = registry == null ? own : reader(id, bytes.index());
            if (reader instanceof String) {
                return incompatible(id, (String) reader);
            }
            Object[] row = new Object[columns + 1];
            ((ProtobufMessage) reader).readInto(row, 1, bytes);
            ((ProtobufMessage) reader).finish(row, 1);
            return new GenericInternalRow(row);
        } catch (InvalidProtocolBufferException error) {
            throw ProtobufBytes.shown(error);
        }
    }

    private Object reader(int id, List<Integer> index) throws IOException, Registry.UnknownSchemaException {
        Map<List<Integer>, Object> known = readers.get(id);
        if (known != null && known.containsKey(index)) {
            return known.get(index);
        }
        Descriptor written = ProtobufSchema.at((FileDescriptor) registry.schema(id, Registry.PROTOBUF), index);
        if (written == null) {
            throw new IOException("it has no message at the place that the value names");
        }
        if (readers.size() >= MOST_SCHEMAS) {
            readers.clear();
        }
        Object reader = reader(written);
        readers.computeIfAbsent(id, unknown -> new HashMap<>()).put(index, reader);
        return reader;
    }

    private Object reader(Descriptor written) {
        if (!written.getFullName().equals(message.getFullName())) {
            return "it is a `" + written.getFullName() + "`, expected a `" + message.getFullName() + "`";
        }
        try {
            return new ProtobufMessage(written, message, "");
        } catch (ProtobufReader.IncompatibleException incompatible) {
            return incompatible.getMessage();
        }
    }
}
