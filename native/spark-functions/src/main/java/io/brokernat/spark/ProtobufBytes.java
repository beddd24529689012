package io.brokernat.spark;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Protobuf's wire format in an array: numbers, lengths, tags.
 *
 * <p>No length is larger than what is left of the message around it, and groups that no column needs are passed
 * over without recursion.
 */
final class ProtobufBytes extends ByteCursor {
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

    /** Begins a part that has its length in front, such as a message inside of another. */
    int enter() throws IOException {
        return enter(varint());
    }

    int fixed32() throws IOException {
        return (int) littleEndian(4);
    }

    long fixed64() throws IOException {
        return littleEndian(8);
    }

    byte[] delimited() throws IOException {
        return taken(varint());
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
