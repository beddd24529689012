package io.brokernat.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** Encodes a struct in Avro's binary encoding, after a zero byte and the schema's id if there is one. */
final class AvroEncoder implements Encoder {
    private static final int HEADER = 5;

    private final AvroWriter writer;
    private final Integer id;
    private BinaryEncoder encoder;

    AvroEncoder(Schema schema, Integer id, StructType type) {
        writer = AvroWriter.of(schema, type, "");
        this.id = id;
    }

    @Override
    public byte[] encode(InternalRow tag) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
            if (id != null) {
                bytes.write(ByteBuffer.allocate(HEADER).putInt(1, id).array());
            }
            encoder = EncoderFactory.get().binaryEncoder(bytes, encoder);
            writer.write(encoder, new GenericInternalRow(new Object[] {tag}), 0);
            encoder.flush();
            return bytes.toByteArray();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
