package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.ZoneId;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Encodes a row as JSON in UTF-8 like {@code to_json}, with nulls; times have six digits after the second.
 *
 * <p>Avoids the steps of {@code to_json}: characters, a string, a UTF8String and its bytes, and patterns for times. Not
 * for several threads: all rows are written by one generator.
 */
final class JsonEncoder {
    /** Without a separator between the objects that one generator writes. */
    private static final JsonFactory JSON = new JsonFactoryBuilder().rootValueSeparator((String) null).build();

    /** Writes the value at an index of a row, an array or a map. */
    private interface Writer {
        void write(JsonGenerator out, SpecializedGetters values, int place) throws IOException;
    }

    private final Writer[] writers;
    private final SerializableString[] names;
    private final ByteArrayBuilder bytes = new ByteArrayBuilder(256);
    private JsonGenerator out;

    /** @throws IllegalArgumentException if only {@code to_json} can write the type */
    JsonEncoder(StructType type, ZoneId zone) {
        StructField[] fields = type.fields();
        writers = new Writer[fields.length];
        names = new SerializableString[fields.length];
        for (int place = 0; place < fields.length; place++) {
            names[place] = new SerializedString(fields[place].name());
            writers[place] = writer(fields[place].dataType(), zone);
        }
    }

    byte[] encode(InternalRow row) {
        try {
            if (out == null) {
                out = JSON.createGenerator(bytes, JsonEncoding.UTF8);
            }
            write(out, row);
            out.flush();
            byte[] encoded = bytes.toByteArray();
            bytes.reset();
            return encoded;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private void write(JsonGenerator out, InternalRow row) throws IOException {
        out.writeStartObject();
        for (int place = 0; place < writers.length; place++) {
            out.writeFieldName(names[place]);
            writeOrNull(writers[place], out, row, place);
        }
        out.writeEndObject();
    }

    private static void writeOrNull(Writer writer, JsonGenerator out, SpecializedGetters values, int place)
            throws IOException {
        if (values.isNullAt(place)) {
            out.writeNull();
        } else {
            writer.write(out, values, place);
        }
    }

    private static Writer writer(DataType type, ZoneId zone) {
        if (type instanceof StructType) {
            JsonEncoder encoder = new JsonEncoder((StructType) type, zone);
            return (out, values, place) -> encoder.write(out, values.getStruct(place, encoder.writers.length));
        }
        if (type instanceof ArrayType) {
            Writer element = writer(((ArrayType) type).elementType(), zone);
            return (out, values, place) -> writeArray(element, out, values.getArray(place));
        }
        if (type instanceof MapType && ((MapType) type).keyType() instanceof StringType) {
            Writer value = writer(((MapType) type).valueType(), zone);
            return (out, values, place) -> writeMap(value, out, values.getMap(place));
        }
        if (type instanceof DecimalType) {
            int precision = ((DecimalType) type).precision(), scale = ((DecimalType) type).scale();
            return (out, values, place) ->
                    out.writeNumber(values.getDecimal(place, precision, scale).toJavaBigDecimal());
        }
        if (type instanceof StringType) {
            return (out, values, place) -> writeText(out, values.getUTF8String(place));
        }
        switch (type.typeName()) {
            case "boolean":
                return (out, values, place) -> out.writeBoolean(values.getBoolean(place));
            case "byte":
                return (out, values, place) -> out.writeNumber(values.getByte(place));
            case "short":
                return (out, values, place) -> out.writeNumber(values.getShort(place));
            case "integer":
                return (out, values, place) -> out.writeNumber(values.getInt(place));
            case "long":
                return (out, values, place) -> out.writeNumber(values.getLong(place));
            case "float":
                return (out, values, place) -> out.writeNumber(values.getFloat(place));
            case "double":
                return (out, values, place) -> out.writeNumber(values.getDouble(place));
            case "date":
                return (out, values, place) -> writeAscii(out, Times.date(values.getInt(place)));
            case "timestamp":
                return (out, values, place) -> writeAscii(out, Times.timestamp(values.getLong(place), zone));
            case "timestamp_ntz":
                return (out, values, place) -> writeAscii(out, Times.local(values.getLong(place)));
            default:
                throw new IllegalArgumentException(type.simpleString());
        }
    }

    private static void writeAscii(JsonGenerator out, byte[] text) throws IOException {
        out.writeRawUTF8String(text, 0, text.length);
    }

    private static void writeArray(Writer element, JsonGenerator out, ArrayData array) throws IOException {
        out.writeStartArray();
        for (int place = 0; place < array.numElements(); place++) {
            writeOrNull(element, out, array, place);
        }
        out.writeEndArray();
    }

    private static void writeMap(Writer value, JsonGenerator out, MapData map) throws IOException {
        out.writeStartObject();
        for (int place = 0; place < map.numElements(); place++) {
            out.writeFieldName(map.keyArray().getUTF8String(place).toString());
            writeOrNull(value, out, map.valueArray(), place);
        }
        out.writeEndObject();
    }

    private static void writeText(JsonGenerator out, UTF8String text) throws IOException {
        byte[] bytes = text.getBytes();
        if (Utf8.isValid(bytes)) {
            out.writeUTF8String(bytes, 0, bytes.length);
        } else {
            // A cast of BINARY can create invalid UTF-8, which JSON cannot contain.
            out.writeString(text.toString());
        }
    }
}
