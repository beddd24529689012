package io.brokernat.spark;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Protobuf's stream over an array, and what it is too generous with: it cuts tags and lengths of more than 32 bits, and
 * reads numbers that go on behind their tenth byte.
 */
final class ProtobufBytes {
    private static final List<Integer> FIRST = List.of(0);

    /** The depth at which Protobuf's own libraries give up. */
    private static final int MOST_GROUPS = 100;

    CodedInputStream stream;
    private byte[] bytes;
    private int from;

    void set(byte[] bytes, int from) throws IOException {
        this.bytes = bytes;
        this.from = from;
        stream = CodedInputStream.newInstance(bytes, from, bytes.length - from);
        // Without a limit a part may be longer than what is left: the library looks for one alone.
        stream.pushLimit(bytes.length - from);
    }

    long varint() throws IOException {
        long value = stream.readRawVarint64();
        // Ten bytes are a number below zero. The library takes some tenth bytes that say that another one follows.
        if (value < 0 && bytes[from + stream.getTotalBytesRead() - 1] < 0) {
            throw new IOException("a number has more than ten bytes");
        }
        return value;
    }

    long zigzag() throws IOException {
        return CodedInputStream.decodeZigZag64(varint());
    }

    /** The number of the next field, times eight, and its wire type. */
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

    /** Begins a part that has its length in front; returns what {@code popLimit} needs to go on behind it. */
    int enter() throws IOException {
        return stream.pushLimit(length());
    }

    /** The library looks whether they are there before it makes an array for them. */
    byte[] delimited() throws IOException {
        return stream.readRawBytes(length());
    }

    /** Passes over the field of a tag. */
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

    /** Confluent's path to a message in its file: how many numbers, then these; one zero byte stands for the first. */
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

    /** An error of the library, of which no others come from an array, in words of ours. */
    static IOException shown(InvalidProtocolBufferException error) {
        boolean isNumber = error.getMessage().contains("varint");
        return new IOException(isNumber ? "a number has more than ten bytes" : "the value ends too early");
    }
}
