package io.brokernat.spark;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.math.BigInteger;
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
 * Writes the value at an index of a row, an array or a map as one type of Protobuf, without its tag; the twin of
 * {@link ProtobufReader}.
 */
abstract class ProtobufWriter {
    private static final long MICROS = 1_000_000;
    private static final long UNSIGNED_INT = 0xFFFFFFFFL;

    final int wire;

    ProtobufWriter(int wire) {
        this.wire = wire;
    }

    abstract void write(CodedOutputStream out, SpecializedGetters values, int place) throws IOException;

    private interface Scalar {
        void write(CodedOutputStream out, SpecializedGetters values, int place) throws IOException;
    }

    private static ProtobufWriter of(int wire, Scalar scalar) {
        return new ProtobufWriter(wire) {
            @Override
            void write(CodedOutputStream out, SpecializedGetters values, int place) throws IOException {
                scalar.write(out, values, place);
            }
        };
    }

    private static UnwritableException unwritable(String label, String what) {
        return new UnwritableException("Protobuf", label, what);
    }

    static ProtobufWriter of(FieldDescriptor field, DataType type, String label) {
        switch (field.getJavaType()) {
            case MESSAGE:
                Descriptor known = WellKnownReader.TYPES.get(field.getMessageType().getFullName());
                return known == null
                        ? new Message(field.getMessageType(), (StructType) type, label)
                        : ofWellKnown(known, type, label);
            case ENUM:
                return ofEnum(field.getEnumType().getValues(), label);
            default:
                return of(WireFormat.FieldType.valueOf(field.getType().name()).getWireType(), scalar(field, type, label));
        }
    }

    private static Scalar scalar(FieldDescriptor field, DataType type, String label) {
        switch (field.getType()) {
            case DOUBLE:
                return (out, values, place) -> out.writeDoubleNoTag(values.getDouble(place));
            case FLOAT:
                return (out, values, place) -> out.writeFloatNoTag(values.getFloat(place));
            case BOOL:
                return (out, values, place) -> out.writeBoolNoTag(values.getBoolean(place));
            case STRING:
                return (out, values, place) -> out.writeByteArrayNoTag(values.getUTF8String(place).getBytes());
            case BYTES:
                return (out, values, place) -> out.writeByteArrayNoTag(values.getBinary(place));
            case INT32:
                return (out, values, place) -> out.writeInt32NoTag(values.getInt(place));
            case SINT32:
                return (out, values, place) -> out.writeSInt32NoTag(values.getInt(place));
            case SFIXED32:
                return (out, values, place) -> out.writeSFixed32NoTag(values.getInt(place));
            case UINT32:
                return (out, values, place) -> out.writeUInt32NoTag(unsigned32(values, place, label));
            case FIXED32:
                return (out, values, place) -> out.writeFixed32NoTag(unsigned32(values, place, label));
            case INT64:
                return (out, values, place) -> out.writeInt64NoTag(values.getLong(place));
            case SINT64:
                return (out, values, place) -> out.writeSInt64NoTag(values.getLong(place));
            case SFIXED64:
                return (out, values, place) -> out.writeSFixed64NoTag(values.getLong(place));
            case UINT64:
                return (out, values, place) -> out.writeUInt64NoTag(unsigned64(values, place, (DecimalType) type, label));
            case FIXED64:
                return (out, values, place) -> out.writeFixed64NoTag(unsigned64(values, place, (DecimalType) type, label));
            default:
                throw new IllegalArgumentException(label + ": " + field.getType());
        }
    }

    private static int unsigned32(SpecializedGetters values, int place, String label) {
        long number = values.getLong(place);
        if (number < 0 || number > UNSIGNED_INT) {
            throw unwritable(label, number + " is no unsigned number of 32 bits");
        }
        return (int) number;
    }

    private static long unsigned64(SpecializedGetters values, int place, DecimalType type, String label) {
        BigInteger number = values.getDecimal(place, type.precision(), type.scale()).toJavaBigDecimal().toBigInteger();
        if (number.signum() < 0 || number.bitLength() > Long.SIZE) {
            throw unwritable(label, number + " is no unsigned number of 64 bits");
        }
        return number.longValue();
    }

    private static ProtobufWriter ofEnum(List<EnumValueDescriptor> symbols, String label) {
        Map<UTF8String, Integer> numbers = new HashMap<>();
        symbols.forEach(each -> numbers.put(UTF8String.fromString(each.getName()), each.getNumber()));
        return of(WireFormat.WIRETYPE_VARINT, (out, values, place) -> {
            Integer number = numbers.get(values.getUTF8String(place));
            if (number == null) {
                throw unwritable(label, "`" + values.getUTF8String(place) + "` is none of its symbols");
            }
            out.writeEnumNoTag(number);
        });
    }

    private static ProtobufWriter ofWellKnown(Descriptor known, DataType type, String label) {
        ProtobufOutput part = new ProtobufOutput();
        if (known.getFields().size() > 1) {
            boolean isDuration = known.getName().equals("Duration");
            return of(WireFormat.WIRETYPE_LENGTH_DELIMITED, (out, values, place) -> {
                long micros = values.getLong(place);
                // A negative duration has two negative numbers; a time before 1970 only negative seconds.
                long seconds = isDuration ? micros / MICROS : Math.floorDiv(micros, MICROS);
                if (!isDuration && (seconds < WellKnownReader.FIRST_SECOND || seconds > WellKnownReader.LAST_SECOND)) {
                    throw unwritable(label, "it is not of the years 1 to 9999");
                }
                if (isDuration && Math.abs(seconds) > WellKnownReader.LONGEST) {
                    throw unwritable(label, "it is longer than 10,000 years");
                }
                CodedOutputStream inner = part.begin();
                inner.writeInt64(1, seconds);
                inner.writeInt32(2, (int) (micros - seconds * MICROS) * 1000);
                part.copyDelimitedTo(out);
            });
        }
        ProtobufWriter value = of(known.findFieldByNumber(1), type, label);
        return of(WireFormat.WIRETYPE_LENGTH_DELIMITED, (out, values, place) -> {
            CodedOutputStream inner = part.begin();
            inner.writeTag(1, value.wire);
            value.write(inner, values, place);
            part.copyDelimitedTo(out);
        });
    }

    /** Writes a STRUCT as a message, without zeros of fields whose absence means zero. */
    static final class Message extends ProtobufWriter {
        private final Field[] fields;
        private final int size;
        private final ProtobufOutput part = new ProtobufOutput();

        Message(Descriptor message, StructType type, String label) {
            super(WireFormat.WIRETYPE_LENGTH_DELIMITED);
            size = type.length();
            fields = new Field[message.getFields().size()];
            for (FieldDescriptor field : message.getFields()) {
                String inner = label.isEmpty() ? field.getName() : label + "." + field.getName();
                fields[field.getIndex()] = new Field(field, type, inner);
            }
        }

        @Override
        void write(CodedOutputStream out, SpecializedGetters values, int place) throws IOException {
            writeFields(part.begin(), values.getStruct(place, size));
            part.copyDelimitedTo(out);
        }

        void writeFields(CodedOutputStream out, SpecializedGetters row) throws IOException {
            Map<OneofDescriptor, String> taken = null;
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
        final OneofDescriptor oneof;
        private final int number;
        private final int column;
        private final ProtobufMessage.Kind kind;
        private final ProtobufWriter value;
        private final ProtobufWriter key;
        private final ProtobufOutput part = new ProtobufOutput();
        private final int zeros;

        Field(FieldDescriptor field, StructType row, String label) {
            this.label = label;
            column = row.fieldIndex(field.getName());
            oneof = field.getRealContainingOneof();
            number = field.getNumber();
            kind = ProtobufMessage.Kind.of(field);
            DataType type = row.fields()[column].dataType();
            switch (kind) {
                case MAP:
                    Descriptor entry = field.getMessageType();
                    key = of(entry.findFieldByNumber(1), ((MapType) type).keyType(), label);
                    value = of(entry.findFieldByNumber(2), ((MapType) type).valueType(), label + "[]");
                    break;
                case REPEATED:
                    key = null;
                    value = of(field, ((ArrayType) type).elementType(), label + "[]");
                    break;
                default:
                    key = null;
                    value = of(field, type, label);
            }
            int wire = value.wire;
            zeros = wire == WireFormat.WIRETYPE_FIXED64 ? 8 : wire == WireFormat.WIRETYPE_FIXED32 ? 4 : 1;
        }

        /** Returns whether there was a value. */
        boolean write(CodedOutputStream out, SpecializedGetters row) throws IOException {
            if (row.isNullAt(column)) {
                if (kind == ProtobufMessage.Kind.OPTIONAL) {
                    return false;
                }
                throw unwritable(label, "it is null");
            }
            switch (kind) {
                case MAP:
                    writeMap(out, row.getMap(column));
                    break;
                case REPEATED:
                    writeArray(out, row.getArray(column));
                    break;
                case IMPLICIT:
                    value.write(part.begin(), row, column);
                    if (!part.isZero(zeros)) {
                        out.writeTag(number, value.wire);
                        part.copyTo(out);
                    }
                    break;
                default:
                    out.writeTag(number, value.wire);
                    value.write(out, row, column);
            }
            return true;
        }

        /** Packs numbers, because readers of proto2 and proto3 accept both forms. */
        private void writeArray(CodedOutputStream out, ArrayData array) throws IOException {
            boolean isPacked = value.wire != WireFormat.WIRETYPE_LENGTH_DELIMITED;
            CodedOutputStream target = isPacked ? part.begin() : out;
            for (int place = 0; place < array.numElements(); place++) {
                if (array.isNullAt(place)) {
                    throw unwritable(label + "[]", "it is null");
                }
                if (!isPacked) {
                    out.writeTag(number, value.wire);
                }
                value.write(target, array, place);
            }
            if (isPacked && array.numElements() > 0) {
                out.writeTag(number, WireFormat.WIRETYPE_LENGTH_DELIMITED);
                part.copyDelimitedTo(out);
            }
        }

        private void writeMap(CodedOutputStream out, MapData map) throws IOException {
            for (int place = 0; place < map.numElements(); place++) {
                if (map.valueArray().isNullAt(place)) {
                    throw unwritable(label + "[]", "it is null");
                }
                CodedOutputStream entry = part.begin();
                entry.writeTag(1, key.wire);
                key.write(entry, map.keyArray(), place);
                entry.writeTag(2, value.wire);
                value.write(entry, map.valueArray(), place);
                out.writeTag(number, WireFormat.WIRETYPE_LENGTH_DELIMITED);
                part.copyDelimitedTo(out);
            }
        }
    }
}
