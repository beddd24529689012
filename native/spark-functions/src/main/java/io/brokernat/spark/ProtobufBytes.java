package io.brokernat.spark;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Protobuf's wire format in an array: numbers, lengths, tags.
 *
 * <p>No length is larger than what is left of the message around it, nothing is allocated before its bytes are there,
 * and groups that no column needs are passed over without recursion.
 */
final class ProtobufBytes {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int DELIMITED = 2;
    static final int FIXED32 = 5;

    private static final int GROUP = 3;
    private static final int END_OF_GROUP = 4;
    /** The depth at which Protobuf's own libraries give up. */
    private static final int MOST_GROUPS = 100;

    private static final List<Integer> FIRST = List.of(0);

    private final int[] groups = new int[MOST_GROUPS];
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

    /** Begins a part with a length, such as a message inside of another; returns what {@link #leave} needs. */
    int enter() throws IOException {
        int from = take(varint());
        int before = end;
        end = place;
        place = from;
        return before;
    }

    /** Goes on behind a part that was read to its end. */
    void leave(int before) {
        end = before;
    }

    private int take(long length) throws IOException {
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

    int fixed32() throws IOException {
        return (int) littleEndian(4);
    }

    long fixed64() throws IOException {
        return littleEndian(8);
    }

    private long littleEndian(int length) throws IOException {
        int from = take(length);
        long value = 0;
        for (int i = length - 1; i >= 0; i--) {
            value = value << 8 | bytes[from + i] & 0xFF;
        }
        return value;
    }

    byte[] delimited() throws IOException {
        int from = take(varint());
        return Arrays.copyOfRange(bytes, from, place);
    }

    /** The number of the next field, times eight, and its wire type. */
    int tag() throws IOException {
        long tag = varint();
        if (tag >>> 32 != 0 || tag >>> 3 == 0) {
            throw new IOException("there is no field with the number " + Long.toUnsignedString(tag >>> 3));
        }
        return (int) tag;
    }

    /** Passes over the field of a tag. */
    void skip(int tag) throws IOException {
        switch (tag & 7) {
            case VARINT:
                varint();
                return;
            case FIXED64:
                take(8);
                return;
            case DELIMITED:
                take(varint());
                return;
            case FIXED32:
                take(4);
                return;
            case GROUP:
                skipGroup(tag >>> 3);
                return;
            case END_OF_GROUP:
                throw new IOException("a group ends that has not begun");
            default:
                throw new IOException("there is no wire type " + (tag & 7));
        }
    }

    private void skipGroup(int number) throws IOException {
        groups[0] = number;
        for (int depth = 1; depth > 0; ) {
            int tag = tag();
            if ((tag & 7) == GROUP) {
                if (depth == MOST_GROUPS) {
                    throw new IOException("more than " + MOST_GROUPS + " groups are inside of each other");
                }
                groups[depth++] = tag >>> 3;
            } else if ((tag & 7) != END_OF_GROUP) {
                skip(tag);
            } else if (groups[--depth] != tag >>> 3) {
                throw new IOException("a group ends that has not begun");
            }
        }
    }

    /** Confluent's path to a message in its file: how many numbers, then these; one zero byte stands for the first. */
    List<Integer> index() throws IOException {
        long count = zigzag();
        if (count == 0) {
            return FIRST;
        }
        if (count < 0 || count > left()) {
            throw new EOFException("the value ends too early");
        }
        List<Integer> path = new ArrayList<>((int) count);
        for (; count > 0; count--) {
            long next = zigzag();
            path.add(next == (int) next ? (int) next : -1);
        }
        return path;
    }
}
