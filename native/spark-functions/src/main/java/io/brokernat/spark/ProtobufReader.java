package io.brokernat.spark;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads one value of a writer's type as a column has it, in Spark's own representation.
 *
 * <p>A number is converted where the column holds it. Protobuf's libraries cut what is too large; here it is a fault.
 */
abstract class ProtobufReader {
    private static final int DECIMAL_DIGITS = 20;

    /** How the writer's type is on the wire. */
    final int wire;

    ProtobufReader(int wire) {
        this.wire = wire;
    }

    /**
     * The next value.
     *
     * @param before of the same field in the same record, or null: a message that comes in parts is put together.
     */
    abstract Object read(ProtobufBytes in, Object before) throws IOException;

    /** What the column gets of all that was read. */
    Object finished(Object read) throws IOException {
        return read;
    }

    /** What is read of no bytes. */
    abstract Object zero() throws IOException;

    /** The schemas of writer and columns differ in a way that values cannot be converted. */
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
     * @param written the type of the writer's field
     * @param wanted the type that the column is of
     * @throws IncompatibleException the one cannot be read as the other
     */
    static ProtobufReader of(
            ProtobufSchema writer, String written, ProtobufSchema reader, String wanted, String label) {
        if (reader.enums.containsKey(wanted)) {
            if (!writer.enums.containsKey(written)) {
                throw incompatible(written, wanted, label);
            }
            return ofEnum(writer.enums.get(written), reader.enums.get(wanted), label);
        }
        if (WellKnownReader.TYPES.containsKey(wanted)) {
            if (!written.equals(wanted)) {
                throw incompatible(written, wanted, label);
            }
            return new WellKnownReader(wanted, label);
        }
        if (reader.messages.containsKey(wanted)) {
            if (!writer.messages.containsKey(written) || WellKnownReader.TYPES.containsKey(written)) {
                throw incompatible(written, wanted, label);
            }
            return new ProtobufMessage(writer, written, reader, wanted, label);
        }
        return ofScalar(written, wanted, label);
    }

    private static IncompatibleException incompatible(String written, String wanted, String label) {
        return new IncompatibleException(label, "it is written as " + written + ", expected " + wanted);
    }

    private static ProtobufReader ofScalar(String written, String wanted, String label) {
        switch (wanted) {
            case "double":
                if (written.equals("double")) {
                    return of(ProtobufBytes.FIXED64, 0.0, in -> Double.longBitsToDouble(in.fixed64()));
                }
                if (written.equals("float")) {
                    return of(ProtobufBytes.FIXED32, 0.0, in -> (double) Float.intBitsToFloat(in.fixed32()));
                }
                break;
            case "float":
                if (written.equals("float")) {
                    return of(ProtobufBytes.FIXED32, 0f, in -> Float.intBitsToFloat(in.fixed32()));
                }
                break;
            case "bool":
                if (written.equals("bool")) {
                    return of(ProtobufBytes.VARINT, false, in -> bool(in, label));
                }
                break;
            case "string":
                if (written.equals("string") || written.equals("bytes")) {
                    return of(ProtobufBytes.DELIMITED, UTF8String.EMPTY_UTF8, in -> text(in, label));
                }
                break;
            case "bytes":
                if (written.equals("string") || written.equals("bytes")) {
                    return of(ProtobufBytes.DELIMITED, new byte[0], ProtobufBytes::delimited);
                }
                break;
            default:
                if (Integers.RANGES.containsKey(written) && Integers.RANGES.containsKey(wanted)) {
                    return ofInteger(new Integers(written, wanted, label));
                }
        }
        throw incompatible(written, wanted, label);
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

    private static ProtobufReader ofEnum(Map<String, Integer> written, Map<String, Integer> wanted, String label) {
        Map<Integer, UTF8String> symbols = new HashMap<>();
        // Of two symbols with one number (allow_alias) the first counts.
        written.forEach((symbol, number) -> symbols.putIfAbsent(number, UTF8String.fromString(symbol)));
        UTF8String first = UTF8String.fromString(wanted.isEmpty() ? "" : wanted.keySet().iterator().next());
        return of(ProtobufBytes.VARINT, first, in -> {
            // Longer numbers are cut, as Protobuf does: an enumeration is an int32 without a promise of its length.
            int number = (int) in.varint();
            UTF8String symbol = symbols.get(number);
            if (symbol == null) {
                throw new MismatchException(label, number + " is none of its symbols");
            }
            return symbol;
        });
    }

    private static ProtobufReader ofInteger(Integers integers) {
        switch (integers.wanted) {
            case "int32":
            case "sint32":
            case "sfixed32":
                return of(integers.wire, 0, in -> (int) integers.next(in));
            case "uint64":
            case "fixed64":
                return of(integers.wire, decimal(0), in -> decimal(integers.next(in)));
            default:
                return of(integers.wire, 0L, integers::next);
        }
    }

    private static Decimal decimal(long unsigned) {
        BigInteger number = BigInteger.valueOf(unsigned);
        if (unsigned < 0) {
            number = number.add(BigInteger.ONE.shiftLeft(Long.SIZE));
        }
        return Decimal.apply(new BigDecimal(number), DECIMAL_DIGITS, 0);
    }

    /** Integers of one type that another type must hold. */
    private static final class Integers {
        private static final List<Long> OF_32 = List.of((long) Integer.MIN_VALUE, (long) Integer.MAX_VALUE);
        private static final List<Long> OF_U32 = List.of(0L, 0xFFFFFFFFL);
        private static final List<Long> OF_64 = List.of(Long.MIN_VALUE, Long.MAX_VALUE);
        /** As far as a signed number goes. */
        private static final List<Long> OF_U64 = List.of(0L, Long.MAX_VALUE);

        static final Map<String, List<Long>> RANGES = Map.of(
                "int32", OF_32, "sint32", OF_32, "sfixed32", OF_32, "uint32", OF_U32, "fixed32", OF_U32,
                "int64", OF_64, "sint64", OF_64, "sfixed64", OF_64, "uint64", OF_U64, "fixed64", OF_U64);

        final String wanted;
        final int wire;
        private final String written;
        private final String label;
        private final boolean isUnsigned;
        private final boolean isAny;
        private final long least;
        private final long most;

        Integers(String written, String wanted, String label) {
            this.written = written;
            this.wanted = wanted;
            this.label = label;
            wire = !written.contains("fixed")
                    ? ProtobufBytes.VARINT
                    : written.endsWith("32") ? ProtobufBytes.FIXED32 : ProtobufBytes.FIXED64;
            isUnsigned = RANGES.get(written) == OF_U64;
            isAny = isUnsigned && RANGES.get(wanted) == OF_U64;
            least = Math.max(RANGES.get(written).get(0), RANGES.get(wanted).get(0));
            most = Math.min(RANGES.get(written).get(1), RANGES.get(wanted).get(1));
        }

        long next(ProtobufBytes in) throws IOException {
            long number = read(in);
            if (!isAny && (number < least || number > most)) {
                String found = isUnsigned ? Long.toUnsignedString(number) : Long.toString(number);
                throw new MismatchException(label, "expected " + wanted + ", found " + found);
            }
            return number;
        }

        private long read(ProtobufBytes in) throws IOException {
            switch (written) {
                case "sint32":
                case "sint64":
                    return in.zigzag();
                case "fixed32":
                    return in.fixed32() & 0xFFFFFFFFL;
                case "sfixed32":
                    return in.fixed32();
                case "fixed64":
                case "sfixed64":
                    return in.fixed64();
                default:
                    return in.varint();
            }
        }
    }
}
