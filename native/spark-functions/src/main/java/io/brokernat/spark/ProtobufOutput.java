package io.brokernat.spark;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;

/** A message, or a part of one, that is written before its length is known. */
final class ProtobufOutput extends ByteArrayOutputStream {
    private final CodedOutputStream out = CodedOutputStream.newInstance(this, 256);

    /** Begins anew: what a value before this one has left in the middle goes. */
    CodedOutputStream begin() throws IOException {
        out.flush();
        count = 0;
        return out;
    }

    byte[] taken() throws IOException {
        out.flush();
        return Arrays.copyOf(buf, count);
    }

    void copyTo(CodedOutputStream other) throws IOException {
        out.flush();
        other.write(buf, 0, count);
    }

    /** With its length in front. */
    void copyDelimitedTo(CodedOutputStream other) throws IOException {
        out.flush();
        other.writeUInt32NoTag(count);
        other.write(buf, 0, count);
    }

    /** Whether all of it is the zero of a type: one byte of a number or a length, or the bytes of a fixed one. */
    boolean isZero(int most) throws IOException {
        out.flush();
        boolean isZero = count <= most;
        for (int i = 0; isZero && i < count; i++) {
            isZero = buf[i] == 0;
        }
        return isZero;
    }
}
