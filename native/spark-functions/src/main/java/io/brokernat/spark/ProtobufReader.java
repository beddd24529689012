package io.brokernat.spark;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.Type;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads one value of a writer's type as the type of a column, in Spark's own representation.
 *
 * <p>A number is converted if the column can hold it. Protobuf's libraries truncate larger ones; here they are a fault.
 */
abstract class ProtobufReader {
    private static final int DECIMAL_DIGITS = 20;

    /** The wire type of the writer's type. */
    final int wire;

    ProtobufReader(int wire) {
        this.wire = wire;
    }

    /**
     * Reads the next value.
     *
     * @param before the earlier value of the same field in the same record, or null: parts of a message are merged.
     */
    abstract Object read(ProtobufBytes in, Object before) throws IOException;

    /** Converts the read value to that of the column. */
    Object finished(Object read) throws IOException {
        return read;
    }

    /** The value of an empty encoding. */
    abstract Object zero() throws IOException;

    /** Values cannot be converted from the writer's schema to the columns. */
    static final class IncompatibleException extends RuntimeException {
        private static final long serialVersionUID = 1;

        IncompatibleException(String label, String what) {
            super("field `" + label + "`: " + what);
        }
    }

    private interface Scalar {
        Object read(ProtobufBytes in) throws IOException;
    }

    private static ProtobufReader of(int wire, Object zero, Scalar scalar) {
        return new ProtobufReader(wire) {
            @Override
            Object read(ProtobufBytes in, Object before) throws IOException {
                return scalar.read(in);
            }

            @Override
            Object zero() {
                return zero;
            }
        };
    }

    /**
     * The reader of one value; ignores the labels of fields.
     *
     * @throws IncompatibleException if the written type cannot be read as the wanted one
     */
    static ProtobufReader of(FieldDescriptor written, FieldDescriptor wanted, String label) {
        boolean isSameKind = written.getType() == wanted.getType();
        switch (wanted.getJavaType()) {
            case ENUM:
                if (isSameKind) {
                    return ofEnum(written.getEnumType(), wanted.getEnumType(), label);
                }
                break;
            case MESSAGE:
                if (isSameKind) {
                    Descriptor from = written.getMessageType(), to = wanted.getMessageType();
                    Descriptor known = WellKnownReader.TYPES.get(to.getFullName());
                    if (from.getFullName().equals(to.getFullName()) && known != null) {
                        return new WellKnownReader(known, label);
                    }
                    if (known == null && !WellKnownReader.TYPES.containsKey(from.getFullName())) {
                        return new ProtobufMessage(from, to, label);
                    }
                }
                break;
            default:
                ProtobufReader found = ofScalar(written.getType(), wanted.getType(), label);
                if (found != null) {
                    return found;
                }
        }
        String types = ProtobufSchema.typeName(written) + ", expected " + ProtobufSchema.typeName(wanted);
        throw new IncompatibleException(label, "it is written as " + types);
    }

    /** Null if there is none. */
    private static ProtobufReader ofScalar(Type written, Type wanted, String label) {
        int wire = WireFormat.FieldType.valueOf(written.name()).getWireType();
        boolean isText = written == Type.STRING || written == Type.BYTES;
        switch (wanted) {
            case DOUBLE:
                if (written == Type.FLOAT) {
                    return of(wire, 0.0, in -> (double) in.stream.readFloat());
                }
                return written == Type.DOUBLE ? of(wire, 0.0, in -> in.stream.readDouble()) : null;
            case FLOAT:
                return written == Type.FLOAT ? of(wire, 0f, in -> in.stream.readFloat()) : null;
            case BOOL:
                return written == Type.BOOL ? of(wire, false, in -> bool(in, label)) : null;
            case STRING:
                return isText ? of(wire, UTF8String.EMPTY_UTF8, in -> text(in, label)) : null;
            case BYTES:
                return isText ? of(wire, new byte[0], ProtobufBytes::delimited) : null;
            default:
                return Integers.RANGES.containsKey(written) ? ofInteger(wire, new Integers(written, wanted, label)) : null;
        }
    }

    private static boolean bool(ProtobufBytes in, String label) throws IOException {
        long number = in.varint();
        if (number != 0 && number != 1) {
            throw new MismatchException(label, "expected BOOLEAN, found " + Long.toUnsignedString(number));
        }
        return number == 1;
    }

    private static UTF8String text(ProtobufBytes in, String label) throws IOException {
        byte[] bytes = in.delimited();
        if (!Utf8.isValid(bytes)) {
            throw new MismatchException(label, "expected STRING, found bytes that are not UTF-8");
        }
        return UTF8String.fromBytes(bytes);
    }

    private static ProtobufReader ofEnum(EnumDescriptor written, EnumDescriptor wanted, String label) {
        Map<Integer, UTF8String> symbols = new HashMap<>();
        // Of two symbols with one number (allow_alias) the first is used.
        for (EnumValueDescriptor each : written.getValues()) {
            symbols.putIfAbsent(each.getNumber(), UTF8String.fromString(each.getName()));
        }
        UTF8String first = UTF8String.fromString(wanted.getValues().get(0).getName());
        return of(WireFormat.WIRETYPE_VARINT, first, in -> {
            // Longer numbers are truncated, like in Protobuf: an enumeration is an int32 of any encoded length.
            int number = (int) in.varint();
            UTF8String symbol = symbols.get(number);
            if (symbol == null) {
                throw new MismatchException(label, number + " is none of its symbols");
            }
            return symbol;
        });
    }

    private static ProtobufReader ofInteger(int wire, Integers integers) {
        switch (integers.wanted) {
            case INT32:
            case SINT32:
            case SFIXED32:
                return of(wire, 0, in -> (int) integers.next(in));
            case UINT64:
            case FIXED64:
                return of(wire, decimal(0), in -> decimal(integers.next(in)));
            default:
                return of(wire, 0L, integers::next);
        }
    }

    private static Decimal decimal(long unsigned) {
        BigInteger number = BigInteger.valueOf(unsigned);
        if (unsigned < 0) {
            number = number.add(BigInteger.ONE.shiftLeft(Long.SIZE));
        }
        return Decimal.apply(new BigDecimal(number), DECIMAL_DIGITS, 0);
    }

    /** Converts integers of one type to another and checks their range. */
    private static final class Integers {
        private static final List<Long> OF_32 = List.of((long) Integer.MIN_VALUE, (long) Integer.MAX_VALUE);
        private static final List<Long> OF_U32 = List.of(0L, 0xFFFFFFFFL);
        private static final List<Long> OF_64 = List.of(Long.MIN_VALUE, Long.MAX_VALUE);
        /** Up to the largest signed number. */
        private static final List<Long> OF_U64 = List.of(0L, Long.MAX_VALUE);

        static final Map<Type, List<Long>> RANGES = Map.of(
                Type.INT32, OF_32, Type.SINT32, OF_32, Type.SFIXED32, OF_32, Type.UINT32, OF_U32, Type.FIXED32, OF_U32,
                Type.INT64, OF_64, Type.SINT64, OF_64, Type.SFIXED64, OF_64, Type.UINT64, OF_U64, Type.FIXED64, OF_U64);

        final Type wanted;
        private final Type written;
        private final String label;
        private final boolean isUnsigned;
        private final boolean isAny;
        private final long least;
        private final long most;

        Integers(Type written, Type wanted, String label) {
            this.written = written;
            this.wanted = wanted;
            this.label = label;
            isUnsigned = RANGES.get(written) == OF_U64;
            isAny = isUnsigned && RANGES.get(wanted) == OF_U64;
            least = Math.max(RANGES.get(written).get(0), RANGES.get(wanted).get(0));
            most = Math.min(RANGES.get(written).get(1), RANGES.get(wanted).get(1));
        }

        long next(ProtobufBytes in) throws IOException {
            long number = read(in);
            if (!isAny && (number < least || number > most)) {
                String found = isUnsigned ? Long.toUnsignedString(number) : Long.toString(number);
                throw new MismatchException(label, "expected " + wanted.name().toLowerCase(Locale.ROOT) + ", found " + found);
            }
            return number;
        }

        private long read(ProtobufBytes in) throws IOException {
            switch (written) {
                case SINT32:
                case SINT64:
                    return in.zigzag();
                case FIXED32:
                    return in.stream.readFixed32() & 0xFFFFFFFFL;
                case SFIXED32:
                    return in.stream.readSFixed32();
                case FIXED64:
                case SFIXED64:
                    return in.stream.readFixed64();
                default:
                    return in.varint();
            }
        }
    }
}
