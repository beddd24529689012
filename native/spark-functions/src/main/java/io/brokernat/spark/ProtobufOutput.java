package io.brokernat.spark;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;

/** A buffer for a message, or a part of one, whose length is not known before. */
final class ProtobufOutput extends ByteArrayOutputStream {
    private final CodedOutputStream out = CodedOutputStream.newInstance(this, 256);

    /** Clears the buffer, which may have a part of an earlier value. */
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

    /** Writes the length first. */
    void copyDelimitedTo(CodedOutputStream other) throws IOException {
        out.flush();
        other.writeUInt32NoTag(count);
        other.write(buf, 0, count);
    }

    /** Whether it is the zero of a type: one zero byte of a number or a length, or those of a fixed-size number. */
    boolean isZero(int most) throws IOException {
        out.flush();
        boolean isZero = count <= most;
        for (int i = 0; isZero && i < count; i++) {
            isZero = buf[i] == 0;
        }
        return isZero;
    }
}
