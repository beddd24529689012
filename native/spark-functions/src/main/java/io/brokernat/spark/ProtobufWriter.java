package io.brokernat.spark;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes the value at a place of a row, an array or a map as one type of Protobuf, without its tag; the twin of
 * {@link ProtobufReader}.
 */
abstract class ProtobufWriter {
    private static final long MICROS = 1_000_000;
    private static final long UNSIGNED_INT = 0xFFFFFFFFL;

    final int wire;

    ProtobufWriter(int wire) {
        this.wire = wire;
    }

    abstract void write(ProtobufOutput out, SpecializedGetters values, int place);

    private interface Scalar {
        void write(ProtobufOutput out, SpecializedGetters values, int place);
    }

    private static ProtobufWriter of(int wire, Scalar scalar) {
        return new ProtobufWriter(wire) {
            @Override
            void write(ProtobufOutput out, SpecializedGetters values, int place) {
                scalar.write(out, values, place);
            }
        };
    }

    private static UnwritableException unwritable(String label, String what) {
        return new UnwritableException("Protobuf", label, what);
    }

    static ProtobufWriter of(ProtobufSchema schema, String written, DataType type, String label) {
        if (schema.enums.containsKey(written)) {
            return ofEnum(schema.enums.get(written), label);
        }
        if (WellKnownReader.TYPES.containsKey(written)) {
            return ofWellKnown(written, WellKnownReader.TYPES.get(written), type, label);
        }
        if (schema.messages.containsKey(written)) {
            return new Message(schema, written, (StructType) type, label);
        }
        switch (written) {
            case "double":
                return of(
                        ProtobufBytes.FIXED64,
                        (out, values, place) -> out.fixed64(Double.doubleToRawLongBits(values.getDouble(place))));
            case "float":
                return of(
                        ProtobufBytes.FIXED32,
                        (out, values, place) -> out.fixed32(Float.floatToRawIntBits(values.getFloat(place))));
            case "bool":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.varint(values.getBoolean(place) ? 1 : 0));
            case "string":
                return of(
                        ProtobufBytes.DELIMITED,
                        (out, values, place) -> out.delimited(values.getUTF8String(place).getBytes()));
            case "bytes":
                return of(ProtobufBytes.DELIMITED, (out, values, place) -> out.delimited(values.getBinary(place)));
            case "int32":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.varint(values.getInt(place)));
            case "sint32":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.zigzag(values.getInt(place)));
            case "sfixed32":
                return of(ProtobufBytes.FIXED32, (out, values, place) -> out.fixed32(values.getInt(place)));
            case "uint32":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.varint(unsigned32(values, place, label)));
            case "fixed32":
                return of(
                        ProtobufBytes.FIXED32,
                        (out, values, place) -> out.fixed32((int) unsigned32(values, place, label)));
            case "int64":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.varint(values.getLong(place)));
            case "sint64":
                return of(ProtobufBytes.VARINT, (out, values, place) -> out.zigzag(values.getLong(place)));
            case "sfixed64":
                return of(ProtobufBytes.FIXED64, (out, values, place) -> out.fixed64(values.getLong(place)));
            case "uint64":
                return of(
                        ProtobufBytes.VARINT,
                        (out, values, place) -> out.varint(unsigned64(values, place, (DecimalType) type, label)));
            case "fixed64":
                return of(
                        ProtobufBytes.FIXED64,
                        (out, values, place) -> out.fixed64(unsigned64(values, place, (DecimalType) type, label)));
            default:
                throw new IllegalArgumentException(label + ": " + written);
        }
    }

    private static long unsigned32(SpecializedGetters values, int place, String label) {
        long number = values.getLong(place);
        if (number < 0 || number > UNSIGNED_INT) {
            throw unwritable(label, number + " is no unsigned number of 32 bits");
        }
        return number;
    }

    private static long unsigned64(SpecializedGetters values, int place, DecimalType type, String label) {
        BigInteger number = values.getDecimal(place, type.precision(), type.scale()).toJavaBigDecimal().toBigInteger();
        if (number.signum() < 0 || number.bitLength() > Long.SIZE) {
            throw unwritable(label, number + " is no unsigned number of 64 bits");
        }
        return number.longValue();
    }

    private static ProtobufWriter ofEnum(Map<String, Integer> symbols, String label) {
        Map<UTF8String, Integer> numbers = new HashMap<>();
        symbols.forEach((symbol, number) -> numbers.put(UTF8String.fromString(symbol), number));
        return of(ProtobufBytes.VARINT, (out, values, place) -> {
            Integer number = numbers.get(values.getUTF8String(place));
            if (number == null) {
                throw unwritable(label, "`" + values.getUTF8String(place) + "` is none of its symbols");
            }
            out.varint(number);
        });
    }

    private static ProtobufWriter ofWellKnown(String name, String inner, DataType type, String label) {
        ProtobufOutput part = new ProtobufOutput();
        if (name.equals(inner)) {
            boolean isDuration = name.endsWith("Duration");
            return of(ProtobufBytes.DELIMITED, (out, values, place) -> {
                long micros = values.getLong(place);
                // A duration before zero has both numbers below zero, a time before 1970 the first alone.
                long seconds = isDuration ? micros / MICROS : Math.floorDiv(micros, MICROS);
                if (!isDuration && (seconds < WellKnownReader.FIRST_SECOND || seconds > WellKnownReader.LAST_SECOND)) {
                    throw unwritable(label, "it is not of the years 1 to 9999");
                }
                if (isDuration && Math.abs(seconds) > WellKnownReader.LONGEST) {
                    throw unwritable(label, "it is longer than 10,000 years");
                }
                part.tag(1, ProtobufBytes.VARINT);
                part.varint(seconds);
                part.tag(2, ProtobufBytes.VARINT);
                part.varint((micros - seconds * MICROS) * 1000);
                out.delimited(part.taken());
            });
        }
        ProtobufWriter value = of(WellKnownReader.SCHEMA, inner, type, label);
        return of(ProtobufBytes.DELIMITED, (out, values, place) -> {
            part.taken();
            part.tag(1, value.wire);
            value.write(part, values, place);
            out.delimited(part.taken());
        });
    }

    /** A STRUCT as a message; zeros of a field whose absence means zero are not written. */
    static final class Message extends ProtobufWriter {
        private final Field[] fields;
        private final int size;
        private final ProtobufOutput part = new ProtobufOutput();

        Message(ProtobufSchema schema, String message, StructType type, String label) {
            super(ProtobufBytes.DELIMITED);
            List<ProtobufSchema.Field> declared = schema.messages.get(message);
            size = type.length();
            fields = new Field[declared.size()];
            for (int place = 0; place < fields.length; place++) {
                ProtobufSchema.Field field = declared.get(place);
                String inner = label.isEmpty() ? field.name : label + "." + field.name;
                fields[place] = new Field(schema, field, type.fieldIndex(field.name), type, inner);
            }
        }

        @Override
        void write(ProtobufOutput out, SpecializedGetters values, int place) {
            // What a value before this one has left in the middle goes.
            part.taken();
            writeFields(part, values.getStruct(place, size));
            out.delimited(part.taken());
        }

        void writeFields(ProtobufOutput out, SpecializedGetters row) {
            Map<String, String> taken = null;
            for (Field field : fields) {
                if (!field.write(out, row) || field.oneof == null) {
                    continue;
                }
                taken = taken == null ? new LinkedHashMap<>() : taken;
                String other = taken.put(field.oneof, field.label);
                if (other != null) {
                    throw unwritable(field.label, "`" + other + "` of the same oneof has a value, too");
                }
            }
        }
    }

    /** One field of a message. */
    private static final class Field {
        final String label;
        final String oneof;
        private final int number;
        private final int column;
        private final String kind;
        private final ProtobufWriter value;
        private final ProtobufWriter key;
        private final ProtobufOutput part = new ProtobufOutput();
        private final byte[] zero;

        Field(ProtobufSchema schema, ProtobufSchema.Field field, int column, StructType row, String label) {
            this.label = label;
            this.column = column;
            oneof = field.oneof;
            number = field.number;
            kind = field.label;
            DataType type = row.fields()[column].dataType();
            switch (kind) {
                case "map":
                    key = of(schema, field.key, ((MapType) type).keyType(), label);
                    value = of(schema, field.type, ((MapType) type).valueType(), label + "[]");
                    break;
                case "repeated":
                    key = null;
                    value = of(schema, field.type, ((ArrayType) type).elementType(), label + "[]");
                    break;
                default:
                    key = null;
                    value = of(schema, field.type, type, label);
            }
            int zeros = value.wire == ProtobufBytes.FIXED64 ? 8 : value.wire == ProtobufBytes.FIXED32 ? 4 : 1;
            zero = new byte[zeros];
        }

        /** Whether there was a value. */
        boolean write(ProtobufOutput out, SpecializedGetters row) {
            if (row.isNullAt(column)) {
                if (kind.equals("optional")) {
                    return false;
                }
                throw unwritable(label, "it is null");
            }
            switch (kind) {
                case "map":
                    writeMap(out, row.getMap(column));
                    break;
                case "repeated":
                    writeArray(out, row.getArray(column));
                    break;
                case "implicit":
                    byte[] written = one(row, column);
                    if (!Arrays.equals(written, zero)) {
                        out.tag(number, value.wire);
                        out.raw(written);
                    }
                    break;
                default:
                    out.tag(number, value.wire);
                    value.write(out, row, column);
            }
            return true;
        }

        private byte[] one(SpecializedGetters values, int place) {
            part.taken();
            value.write(part, values, place);
            return part.taken();
        }

        /** Numbers are packed: a reader of either syntax takes both forms. */
        private void writeArray(ProtobufOutput out, ArrayData array) {
            boolean isPacked = value.wire != ProtobufBytes.DELIMITED;
            part.taken();
            for (int place = 0; place < array.numElements(); place++) {
                if (array.isNullAt(place)) {
                    throw unwritable(label + "[]", "it is null");
                }
                if (!isPacked) {
                    out.tag(number, value.wire);
                }
                value.write(isPacked ? part : out, array, place);
            }
            if (isPacked && array.numElements() > 0) {
                out.tag(number, ProtobufBytes.DELIMITED);
                out.delimited(part.taken());
            }
        }

        private void writeMap(ProtobufOutput out, MapData map) {
            for (int place = 0; place < map.numElements(); place++) {
                if (map.valueArray().isNullAt(place)) {
                    throw unwritable(label + "[]", "it is null");
                }
                part.taken();
                part.tag(1, key.wire);
                key.write(part, map.keyArray(), place);
                part.tag(2, value.wire);
                value.write(part, map.valueArray(), place);
                out.tag(number, ProtobufBytes.DELIMITED);
                out.delimited(part.taken());
            }
        }
    }
}
