package io.brokernat.spark;

import java.util.Arrays;

/** Protobuf's wire format into an array that grows; the twin of {@link ProtobufBytes}. */
final class ProtobufOutput {
    private byte[] bytes = new byte[256];
    private int size;

    /** What was written; it begins anew. */
    byte[] taken() {
        byte[] written = Arrays.copyOf(bytes, size);
        size = 0;
        return written;
    }

    private int reserve(int length) {
        if (length > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(size, length)));
        }
        int from = size;
        size += length;
        return from;
    }

    void raw(byte[] content) {
        int from = reserve(content.length);
        System.arraycopy(content, 0, bytes, from, content.length);
    }

    void tag(int number, int wire) {
        varint((long) number << 3 | wire);
    }

    void varint(long value) {
        long left = value;
        while ((left & ~0x7FL) != 0) {
            one((byte) (left & 0x7F | 0x80));
            left >>>= 7;
        }
        one((byte) left);
    }

    private void one(byte content) {
        int from = reserve(1);
        bytes[from] = content;
    }

    void zigzag(long value) {
        varint(value << 1 ^ value >> 63);
    }

    void fixed32(int value) {
        littleEndian(value, 4);
    }

    void fixed64(long value) {
        littleEndian(value, 8);
    }

    private void littleEndian(long value, int length) {
        int from = reserve(length);
        for (int i = 0; i < length; i++) {
            bytes[from + i] = (byte) (value >>> 8 * i);
        }
    }

    void delimited(byte[] content) {
        varint(content.length);
        raw(content);
    }
}
