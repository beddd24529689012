package io.brokernat.spark;

import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalType;
import org.apache.avro.Schema;
import org.apache.avro.io.Encoder;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes the value at an index of a row, an array or a map with one schema; the twin of {@link AvroReader}. */
interface AvroWriter {
    void write(Encoder out, SpecializedGetters values, int place) throws IOException;

    /** @throws IllegalArgumentException if the type's values have another schema */
    static AvroWriter of(Schema schema, DataType type, String label) {
        if (schema.getType() == Schema.Type.UNION) {
            return ofUnion(schema, type, label);
        }
        AvroWriter writer = ofValue(schema, type, label);
        return (out, values, place) -> {
            if (values.isNullAt(place)) {
                throw new UnwritableException("Avro", label, "it is null");
            }
            writer.write(out, values, place);
        };
    }

    private static AvroWriter ofUnion(Schema schema, DataType type, String label) {
        List<Schema> branches = schema.getTypes();
        int nullBranch = branches.indexOf(Schema.create(Schema.Type.NULL));
        int branch = nullBranch == 0 && branches.size() > 1 ? 1 : 0;
        AvroWriter writer = of(branches.get(branch), type, label);
        return (out, values, place) -> {
            if (nullBranch >= 0 && values.isNullAt(place)) {
                out.writeIndex(nullBranch);
                return;
            }
            out.writeIndex(branch);
            writer.write(out, values, place);
        };
    }

    private static AvroWriter ofValue(Schema schema, DataType type, String label) {
        switch (schema.getType()) {
            case RECORD:
                return ofRecord(schema, (StructType) type, label);
            case ARRAY:
                AvroWriter element = of(schema.getElementType(), ((ArrayType) type).elementType(), label + "[]");
                return (out, values, place) -> writeArray(out, values.getArray(place), element);
            case MAP:
                AvroWriter value = of(schema.getValueType(), ((MapType) type).valueType(), label + "[]");
                return (out, values, place) -> writeMap(out, values.getMap(place), value);
            case ENUM:
                return ofEnum(schema, label);
            case BOOLEAN:
                return (out, values, place) -> out.writeBoolean(values.getBoolean(place));
            case INT:
                return (out, values, place) -> out.writeInt(values.getInt(place));
            case LONG:
                LogicalType logical = schema.getLogicalType();
                boolean isMillis = logical != null && logical.getName().endsWith("timestamp-millis");
                int unit = isMillis ? 1000 : 1;
                return (out, values, place) -> out.writeLong(Math.floorDiv(values.getLong(place), unit));
            case FLOAT:
                return (out, values, place) -> out.writeFloat(values.getFloat(place));
            case DOUBLE:
                return (out, values, place) -> out.writeDouble(values.getDouble(place));
            case STRING:
                return (out, values, place) -> out.writeBytes(values.getUTF8String(place).getBytes());
            case BYTES:
                if (type instanceof DecimalType) {
                    DecimalType decimal = (DecimalType) type;
                    return (out, values, place) -> out.writeBytes(unscaled(values, place, decimal).toByteArray());
                }
                return (out, values, place) -> out.writeBytes(values.getBinary(place));
            case FIXED:
                return ofFixed(schema.getFixedSize(), type, label);
            default:
                throw new IllegalArgumentException(label + ": " + schema);
        }
    }

    private static AvroWriter ofRecord(Schema schema, StructType type, String label) {
        List<Schema.Field> fields = schema.getFields();
        AvroWriter[] writers = new AvroWriter[fields.size()];
        int[] columns = new int[fields.size()];
        for (Schema.Field field : fields) {
            String inner = label.isEmpty() ? field.name() : label + "." + field.name();
            columns[field.pos()] = type.fieldIndex(field.name());
            writers[field.pos()] = of(field.schema(), type.fields()[columns[field.pos()]].dataType(), inner);
        }
        int size = type.length();
        return (out, values, place) -> {
            SpecializedGetters row = values.getStruct(place, size);
            for (int field = 0; field < writers.length; field++) {
                writers[field].write(out, row, columns[field]);
            }
        };
    }

    private static void writeArray(Encoder out, ArrayData array, AvroWriter element) throws IOException {
        out.writeArrayStart();
        out.setItemCount(array.numElements());
        for (int place = 0; place < array.numElements(); place++) {
            out.startItem();
            element.write(out, array, place);
        }
        out.writeArrayEnd();
    }

    private static void writeMap(Encoder out, MapData map, AvroWriter value) throws IOException {
        out.writeMapStart();
        out.setItemCount(map.numElements());
        for (int place = 0; place < map.numElements(); place++) {
            out.startItem();
            out.writeBytes(map.keyArray().getUTF8String(place).getBytes());
            value.write(out, map.valueArray(), place);
        }
        out.writeMapEnd();
    }

    private static AvroWriter ofEnum(Schema schema, String label) {
        Map<UTF8String, Integer> symbols = new HashMap<>();
        for (String symbol : schema.getEnumSymbols()) {
            symbols.put(UTF8String.fromString(symbol), schema.getEnumOrdinal(symbol));
        }
        return (out, values, place) -> {
            Integer symbol = symbols.get(values.getUTF8String(place));
            if (symbol == null) {
                throw new UnwritableException("Avro", label, "`" + values.getUTF8String(place) + "` is none of its symbols");
            }
            out.writeEnum(symbol);
        };
    }

    private static AvroWriter ofFixed(int size, DataType type, String label) {
        if (type instanceof DecimalType) {
            DecimalType decimal = (DecimalType) type;
            return (out, values, place) -> {
                BigInteger number = unscaled(values, place, decimal);
                byte[] digits = number.toByteArray();
                if (digits.length > size) {
                    throw new UnwritableException("Avro", label, "its digits take more than " + size + " bytes");
                }
                byte[] padded = new byte[size];
                Arrays.fill(padded, (byte) (number.signum() < 0 ? -1 : 0));
                System.arraycopy(digits, 0, padded, size - digits.length, digits.length);
                out.writeFixed(padded);
            };
        }
        return (out, values, place) -> {
            byte[] bytes = values.getBinary(place);
            if (bytes.length != size) {
                throw new UnwritableException("Avro", label, "it has " + bytes.length + " bytes, expected " + size);
            }
            out.writeFixed(bytes);
        };
    }

    private static BigInteger unscaled(SpecializedGetters values, int place, DecimalType type) {
        return values.getDecimal(place, type.precision(), type.scale()).toJavaBigDecimal().unscaledValue();
    }
}
