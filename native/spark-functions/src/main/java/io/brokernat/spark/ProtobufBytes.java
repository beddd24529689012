package io.brokernat.spark;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Protobuf's stream over an array, with stricter checks: the stream truncates tags and lengths of more than 32 bits,
 * and accepts numbers of more than ten bytes.
 */
final class ProtobufBytes {
    private static final List<Integer> FIRST = List.of(0);

    /** The depth limit of Protobuf's own libraries. */
    private static final int MOST_GROUPS = 100;

    CodedInputStream stream;
    private byte[] bytes;
    private int from;

    void set(byte[] bytes, int from) throws IOException {
        this.bytes = bytes;
        this.from = from;
        stream = CodedInputStream.newInstance(bytes, from, bytes.length - from);
        // Without a limit the library accepts a part that is longer than the bytes left.
        stream.pushLimit(bytes.length - from);
    }

    long varint() throws IOException {
        long value = stream.readRawVarint64();
        // Only negative numbers have ten bytes. The library accepts some tenth bytes with a continuation bit.
        if (value < 0 && bytes[from + stream.getTotalBytesRead() - 1] < 0) {
            throw new IOException("a number has more than ten bytes");
        }
        return value;
    }

    long zigzag() throws IOException {
        return CodedInputStream.decodeZigZag64(varint());
    }

    /** The number of the next field, times eight, plus its wire type. */
    int tag() throws IOException {
        long tag = varint();
        if (tag >>> 32 != 0 || tag >>> 3 == 0) {
            throw new IOException("there is no field with the number " + Long.toUnsignedString(tag >>> 3));
        }
        return (int) tag;
    }

    private int length() throws IOException {
        long length = varint();
        if (length < 0) {
            throw new IOException("a length is negative");
        }
        if (length > Integer.MAX_VALUE) {
            throw new EOFException("the value ends too early");
        }
        return (int) length;
    }

    /** Begins a length-delimited part; returns the argument for {@code popLimit} after it. */
    int enter() throws IOException {
        return stream.pushLimit(length());
    }

    /** The library checks the length before it allocates the array. */
    byte[] delimited() throws IOException {
        return stream.readRawBytes(length());
    }

    /** Skips the field of a tag. */
    void skip(int tag) throws IOException {
        skip(tag, 1);
    }

    private void skip(int tag, int depth) throws IOException {
        switch (WireFormat.getTagWireType(tag)) {
            case WireFormat.WIRETYPE_VARINT:
                varint();
                return;
            case WireFormat.WIRETYPE_FIXED64:
                stream.skipRawBytes(8);
                return;
            case WireFormat.WIRETYPE_LENGTH_DELIMITED:
                stream.skipRawBytes(length());
                return;
            case WireFormat.WIRETYPE_FIXED32:
                stream.skipRawBytes(4);
                return;
            case WireFormat.WIRETYPE_START_GROUP:
                skipGroup(tag >>> 3, depth);
                return;
            case WireFormat.WIRETYPE_END_GROUP:
                throw new IOException("a group ends that has not begun");
            default:
                throw new IOException("there is no wire type " + WireFormat.getTagWireType(tag));
        }
    }

    private void skipGroup(int number, int depth) throws IOException {
        if (depth > MOST_GROUPS) {
            throw new IOException("more than " + MOST_GROUPS + " groups are inside of each other");
        }
        int tag = tag();
        for (; WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_END_GROUP; tag = tag()) {
            skip(tag, depth + 1);
        }
        if (tag >>> 3 != number) {
            throw new IOException("a group ends that has not begun");
        }
    }

    /** Confluent's path to a message in its file: a count and that many indexes; one zero byte means the first. */
    List<Integer> index() throws IOException {
        long count = zigzag();
        if (count == 0) {
            return FIRST;
        }
        if (count < 0 || count > stream.getBytesUntilLimit()) {
            throw new EOFException("the value ends too early");
        }
        List<Integer> path = new ArrayList<>((int) count);
        for (; count > 0; count--) {
            long next = zigzag();
            path.add(next == (int) next ? (int) next : -1);
        }
        return path;
    }

    /** Our message for an error of the library; an array causes no other errors. */
    static IOException shown(InvalidProtocolBufferException error) {
        boolean isNumber = error.getMessage().contains("varint");
        return new IOException(isNumber ? "a number has more than ten bytes" : "the value ends too early");
    }
}
