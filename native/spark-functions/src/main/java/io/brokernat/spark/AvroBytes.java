package io.brokernat.spark;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.io.Decoder;
import org.apache.avro.util.Utf8;

/**
 * Decodes Avro's binary encoding from an array.
 *
 * <p>Avro's own decoder trusts a length before it has the bytes: five bytes make it allocate two gigabytes. Here no
 * length and no count is larger than the number of bytes left. So an array of elements without bytes (null, a record
 * without fields) may not have more elements than there are bytes after the count.
 */
final class AvroBytes extends Decoder {
    private final ByteCursor in = new ByteCursor();

    void set(byte[] bytes, int from) {
        in.set(bytes, from);
    }

    int left() {
        return in.left();
    }

    @Override
    public long readLong() throws IOException {
        return in.zigzag();
    }

    @Override
    public int readInt() throws IOException {
        long value = readLong();
        if (value != (int) value) {
            throw new IOException("a number does not fit into INT");
        }
        return (int) value;
    }

    @Override
    public void readNull() {}

    @Override
    public boolean readBoolean() throws IOException {
        byte value = in.taken();
        if (value != 0 && value != 1) {
            throw new IOException("a BOOLEAN is neither 0 nor 1");
        }
        return value == 1;
    }

    @Override
    public float readFloat() throws IOException {
        return Float.intBitsToFloat((int) in.littleEndian(4));
    }

    @Override
    public double readDouble() throws IOException {
        return Double.longBitsToDouble(in.littleEndian(8));
    }

    private byte[] taken() throws IOException {
        return in.taken(readLong());
    }

    @Override
    public Utf8 readString(Utf8 old) throws IOException {
        return new Utf8(taken());
    }

    @Override
    public String readString() throws IOException {
        return readString(null).toString();
    }

    @Override
    public void skipString() throws IOException {
        in.take(readLong());
    }

    @Override
    public ByteBuffer readBytes(ByteBuffer old) throws IOException {
        return ByteBuffer.wrap(taken());
    }

    @Override
    public void skipBytes() throws IOException {
        in.take(readLong());
    }

    @Override
    public void readFixed(byte[] into, int start, int length) throws IOException {
        in.copy(into, start, length);
    }

    @Override
    public void skipFixed(int length) throws IOException {
        in.take(length);
    }

    @Override
    public int readEnum() throws IOException {
        return readInt();
    }

    @Override
    public int readIndex() throws IOException {
        return readInt();
    }

    /** The number of elements in this block; a negative count is followed by the block's length in bytes. */
    private long block() throws IOException {
        long count = readLong();
        if (count < 0) {
            count = -count;
            readLong();
        }
        if (count < 0 || count > left()) {
            throw new EOFException("the value ends too early");
        }
        return count;
    }

    /** Skips blocks with a length; returns the count of the first one without. */
    private long skipped() throws IOException {
        long count = readLong();
        while (count < 0) {
            in.take(readLong());
            count = readLong();
        }
        if (count > left()) {
            throw new EOFException("the value ends too early");
        }
        return count;
    }

    @Override
    public long readArrayStart() throws IOException {
        return block();
    }

    @Override
    public long arrayNext() throws IOException {
        return block();
    }

    @Override
    public long skipArray() throws IOException {
        return skipped();
    }

    @Override
    public long readMapStart() throws IOException {
        return block();
    }

    @Override
    public long mapNext() throws IOException {
        return block();
    }

    @Override
    public long skipMap() throws IOException {
        return skipped();
    }
}
