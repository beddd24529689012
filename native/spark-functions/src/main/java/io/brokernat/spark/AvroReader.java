package io.brokernat.spark;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.LogicalType;
import org.apache.avro.Schema;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads the next value of a schema as one declared type, in Spark's own representation.
 *
 * <p>Avro's ResolvingDecoder handles the differences of the writer's schema (order, defaults, promotions); no
 * GenericRecord is created. The types are those of {@code config/avro_schema.py}.
 */
interface AvroReader {
    Object read(ResolvingDecoder in) throws IOException;

    /** @throws IllegalArgumentException if the schema's values have another type */
    static AvroReader of(Schema schema, DataType type, String label) {
        switch (schema.getType()) {
            case UNION:
                return ofUnion(schema, type, label);
            case RECORD:
                return new Row(schema, (StructType) type, label)::read;
            case ARRAY:
                return ofArray(of(schema.getElementType(), ((ArrayType) type).elementType(), label + "[]"));
            case MAP:
                return ofMap(of(schema.getValueType(), ((MapType) type).valueType(), label + "[]"), label);
            case ENUM:
                return ofEnum(schema, label);
            case BOOLEAN:
                return ResolvingDecoder::readBoolean;
            case INT:
                return ResolvingDecoder::readInt;
            case LONG:
                return ofLong(schema, type, label);
            case FLOAT:
                return ResolvingDecoder::readFloat;
            case DOUBLE:
                return ResolvingDecoder::readDouble;
            case STRING:
                return in -> text(in, label);
            case BYTES:
                return ofBytes(in -> bytes(in.readBytes(null)), type, label);
            case FIXED:
                return ofBytes(in -> fixed(in, schema.getFixedSize()), type, label);
            default:
                throw new IllegalArgumentException(label + ": " + schema);
        }
    }

    private static AvroReader ofUnion(Schema schema, DataType type, String label) {
        List<Schema> branches = schema.getTypes();
        AvroReader[] readers = new AvroReader[branches.size()];
        for (int branch = 0; branch < readers.length; branch++) {
            Schema each = branches.get(branch);
            readers[branch] = each.getType() == Schema.Type.NULL ? null : of(each, type, label);
        }
        return in -> {
            AvroReader reader = readers[in.readIndex()];
            if (reader == null) {
                in.readNull();
                return null;
            }
            return reader.read(in);
        };
    }

    private static AvroReader ofArray(AvroReader element) {
        return in -> {
            List<Object> elements = new ArrayList<>();
            for (long left = in.readArrayStart(); left > 0; left = in.arrayNext()) {
                for (; left > 0; left--) {
                    elements.add(element.read(in));
                }
            }
            return new GenericArrayData(elements.toArray());
        };
    }

    private static AvroReader ofMap(AvroReader value, String label) {
        return in -> {
            List<Object> keys = new ArrayList<>();
            List<Object> values = new ArrayList<>();
            Set<Object> known = new HashSet<>();
            for (long left = in.readMapStart(); left > 0; left = in.mapNext()) {
                for (; left > 0; left--) {
                    UTF8String key = text(in, label);
                    if (!known.add(key)) {
                        throw new MismatchException(label, "the key `" + key + "` is there twice");
                    }
                    keys.add(key);
                    values.add(value.read(in));
                }
            }
            return new ArrayBasedMapData(new GenericArrayData(keys.toArray()), new GenericArrayData(values.toArray()));
        };
    }

    private static AvroReader ofEnum(Schema schema, String label) {
        UTF8String[] symbols = schema.getEnumSymbols().stream().map(UTF8String::fromString).toArray(UTF8String[]::new);
        return in -> {
            int symbol = in.readEnum();
            if (symbol < 0 || symbol >= symbols.length) {
                throw new IOException("field `" + label + "`: the enumeration has no symbol " + symbol);
            }
            return symbols[symbol];
        };
    }

    private static AvroReader ofLong(Schema schema, DataType type, String label) {
        LogicalType logical = schema.getLogicalType();
        if (logical == null || !type.typeName().startsWith("timestamp") || !logical.getName().endsWith("-millis")) {
            return ResolvingDecoder::readLong;
        }
        return in -> {
            long millis = in.readLong();
            long micros = millis * 1000;
            if (micros / 1000 != millis) {
                throw new MismatchException(label, "expected TIMESTAMP, found " + millis + " milliseconds");
            }
            return micros;
        };
    }

    private static AvroReader ofBytes(AvroReader bytes, DataType type, String label) {
        if (!(type instanceof DecimalType)) {
            return bytes;
        }
        int precision = ((DecimalType) type).precision(), scale = ((DecimalType) type).scale();
        return in -> {
            byte[] digits = (byte[]) bytes.read(in);
            BigDecimal value = digits.length == 0 ? null : new BigDecimal(new BigInteger(digits), scale);
            if (value == null || value.precision() > precision) {
                throw new MismatchException(label, "expected " + type.sql() + ", found " + digits.length + " bytes");
            }
            return Decimal.apply(value, precision, scale);
        };
    }

    private static UTF8String text(ResolvingDecoder in, String label) throws IOException {
        org.apache.avro.util.Utf8 text = in.readString(null);
        byte[] bytes = bytes(ByteBuffer.wrap(text.getBytes(), 0, text.getByteLength()));
        if (!Utf8.isValid(bytes)) {
            throw new MismatchException(label, "expected STRING, found bytes that are not UTF-8");
        }
        return UTF8String.fromBytes(bytes);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        if (buffer.arrayOffset() == 0 && buffer.position() == 0 && buffer.remaining() == buffer.array().length) {
            return buffer.array();
        }
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(copy);
        return copy;
    }

    private static byte[] fixed(ResolvingDecoder in, int size) throws IOException {
        byte[] bytes = new byte[size];
        in.readFixed(bytes, 0, size);
        return bytes;
    }

    /** Reads a record as a STRUCT; fields are matched by name, in any order. */
    final class Row {
        private final AvroReader[] readers;
        private final int[] columns;
        private final int size;

        Row(Schema schema, StructType type, String label) {
            List<Schema.Field> fields = schema.getFields();
            readers = new AvroReader[fields.size()];
            columns = new int[fields.size()];
            size = type.length();
            for (Schema.Field field : fields) {
                int column = type.fieldIndex(field.name());
                StructField declared = type.fields()[column];
                String inner = label.isEmpty() ? field.name() : label + "." + field.name();
                columns[field.pos()] = column;
                readers[field.pos()] = of(field.schema(), declared.dataType(), inner);
            }
        }

        Object read(ResolvingDecoder in) throws IOException {
            Object[] row = new Object[size];
            readInto(row, 0, in);
            return new GenericInternalRow(row);
        }

        /** Reads a record; its first column goes to {@code row[offset]}. */
        void readInto(Object[] row, int offset, ResolvingDecoder in) throws IOException {
            for (Schema.Field field : in.readFieldOrder()) {
                row[offset + columns[field.pos()]] = readers[field.pos()].read(in);
            }
        }
    }
}
