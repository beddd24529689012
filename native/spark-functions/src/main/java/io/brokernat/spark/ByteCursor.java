package io.brokernat.spark;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;

/**
 * Reads numbers and lengths from an array, in the encoding that Avro and Protobuf share.
 *
 * <p>No length is larger than the number of bytes left, and this is checked before memory is allocated.
 */
class ByteCursor {
    private byte[] bytes;
    private int place;
    private int end;

    void set(byte[] bytes, int from) {
        this.bytes = bytes;
        place = from;
        end = bytes.length;
    }

    int left() {
        return end - place;
    }

    /** Skips bytes and returns the index of the first. */
    int take(long length) throws IOException {
        if (length < 0) {
            throw new IOException("a length is negative");
        }
        if (length > left()) {
            throw new EOFException("the value ends too early");
        }
        int from = place;
        place += (int) length;
        return from;
    }

    /** Begins a part of this length, such as a nested message; returns the argument for {@link #leave}. */
    int enter(long length) throws IOException {
        int from = take(length);
        int before = end;
        end = place;
        place = from;
        return before;
    }

    /** Continues after a part that was read completely. */
    void leave(int before) {
        end = before;
    }

    long varint() throws IOException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = bytes[take(1)];
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IOException("a number has more than ten bytes");
    }

    long zigzag() throws IOException {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }

    long littleEndian(int length) throws IOException {
        int from = take(length);
        long value = 0;
        for (int i = length - 1; i >= 0; i--) {
            value = value << 8 | bytes[from + i] & 0xFF;
        }
        return value;
    }

    byte taken() throws IOException {
        return bytes[take(1)];
    }

    byte[] taken(long length) throws IOException {
        int from = take(length);
        return Arrays.copyOfRange(bytes, from, place);
    }

    void copy(byte[] into, int start, int length) throws IOException {
        System.arraycopy(bytes, take(length), into, start, length);
    }
}
