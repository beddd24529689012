package io.brokernat.spark;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * A struct as a Protobuf message, behind a zero byte, a schema's id and the place of the message in this schema where
 * there is an id.
 */
final class ProtobufEncoder implements Encoder {
    private static final int ID_BYTES = 4;

    private final ProtobufWriter.Message message;
    private final ProtobufOutput out = new ProtobufOutput();
    private final byte[] header;

    ProtobufEncoder(ProtobufSchema schema, Integer id, StructType type) {
        message = new ProtobufWriter.Message(schema, schema.byIndex.values().iterator().next(), type, "");
        if (id != null) {
            out.raw(new byte[1]);
            out.raw(ByteBuffer.allocate(ID_BYTES).putInt(id).array());
            index(schema.byIndex.keySet().iterator().next());
        }
        header = out.taken();
    }

    /** Confluent writes one zero byte in place of the path of the first message. */
    private void index(List<Integer> path) {
        if (path.equals(List.of(0))) {
            out.varint(0);
            return;
        }
        out.zigzag(path.size());
        for (int place : path) {
            out.zigzag(place);
        }
    }

    @Override
    public byte[] encode(InternalRow tag) {
        // What a tag before this one has left in the middle goes.
        out.taken();
        out.raw(header);
        message.writeFields(out, tag);
        return out.taken();
    }
}
