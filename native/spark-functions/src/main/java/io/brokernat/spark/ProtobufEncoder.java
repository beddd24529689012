package io.brokernat.spark;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Encodes a struct as a Protobuf message. If there is an id, it comes after a zero byte, the schema's id and the path
 * of the message in this schema.
 */
final class ProtobufEncoder implements Encoder {
    private static final int ID_BYTES = 4;

    private final ProtobufWriter.Message message;
    private final ProtobufOutput part = new ProtobufOutput();
    private final byte[] header;

    ProtobufEncoder(Descriptor schema, Integer id, StructType type) {
        message = new ProtobufWriter.Message(schema, type, "");
        try {
            CodedOutputStream out = part.begin();
            if (id != null) {
                out.writeRawByte(0);
                out.writeRawBytes(ByteBuffer.allocate(ID_BYTES).putInt(id).array());
                writeIndex(out, ProtobufSchema.index(schema));
            }
            header = part.taken();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** For the first message, Confluent writes one zero byte instead of its path. */
    private static void writeIndex(CodedOutputStream out, List<Integer> path) throws IOException {
        if (path.equals(List.of(0))) {
            out.writeRawByte(0);
            return;
        }
        out.writeSInt32NoTag(path.size());
        for (int place : path) {
            out.writeSInt32NoTag(place);
        }
    }

    @Override
    public byte[] encode(InternalRow tag) {
        try {
            CodedOutputStream out = part.begin();
            out.writeRawBytes(header);
            message.writeFields(out, tag);
            return part.taken();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
