package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes one line of CSV (RFC 4180) to one row; its fields are in the order of the columns.
 *
 * <p>An empty field without quotes is null. Types are as strict as those of JSON, because the fields become values of a
 * JSON object: a valid number in a numeric column becomes a number, other text a string.
 */
final class CsvDecoder implements Decoder {
    private static final JsonFactory JSON = new JsonFactory();
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private final SerializedString[] names;
    private final DataType[] types;
    private final char delimiter;
    private final JsonDecoder decoder;

    CsvDecoder(StructType columns, ZoneId zone, char delimiter) {
        this.delimiter = delimiter;
        decoder = new JsonDecoder(columns, zone);
        StructField[] fields = columns.fields();
        names = new SerializedString[fields.length];
        types = new DataType[fields.length];
        for (int place = 0; place < fields.length; place++) {
            names[place] = new SerializedString(fields[place].name());
            types[place] = fields[place].dataType();
        }
    }

    @Override
    public InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(names.length);
        }
        if (value.length == 0) {
            return malformed("the value is empty");
        }
        if (!Utf8.isValid(value)) {
            return malformed("the value is not UTF-8");
        }
        List<String> fields = fields(new String(value, StandardCharsets.UTF_8));
        if (fields == null) {
            return malformed("the value is not one line of CSV: " + Utf8.beginning(value, 0, value.length, 80));
        }
        if (fields.size() != names.length) {
            return malformed("the value has " + fields.size() + " fields, expected " + names.length);
        }
        return decoder.decode(json(fields));
    }

    private InternalRow malformed(String message) {
        return Decoder.fault(names.length, "MalformedValue", message);
    }

    /** The fields of a line, null for empty ones; returns null if the text is not one line. */
    private List<String> fields(String line) {
        List<String> fields = new ArrayList<>(names.length);
        int end = line.endsWith("\r\n") ? line.length() - 2 : line.endsWith("\n") ? line.length() - 1 : line.length();
        int place = 0;
        while (true) {
            if (place < end && line.charAt(place) == '"') {
                StringBuilder text = new StringBuilder();
                for (place++; ; place++) {
                    int quote = line.indexOf('"', place);
                    if (quote < 0 || quote >= end) {
                        return null;
                    }
                    text.append(line, place, quote);
                    place = quote + 1;
                    if (place >= end || line.charAt(place) != '"') {
                        break;
                    }
                    text.append('"');
                }
                fields.add(text.toString());
            } else {
                int from = place;
                for (; place < end && line.charAt(place) != delimiter; place++) {
                    char c = line.charAt(place);
                    if (c == '"' || c == '\n' || c == '\r') {
                        return null;
                    }
                }
                fields.add(from == place ? null : line.substring(from, place));
            }
            if (place == end) {
                return fields;
            }
            if (line.charAt(place++) != delimiter) {
                return null;
            }
        }
    }

    private byte[] json(List<String> fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (JsonGenerator out = JSON.createGenerator(bytes)) {
            out.writeStartObject();
            for (int place = 0; place < names.length; place++) {
                String text = fields.get(place);
                out.writeFieldName(names[place]);
                if (text == null) {
                    out.writeNull();
                } else if (isPlain(types[place], text)) {
                    out.writeRawValue(text);
                } else {
                    out.writeString(text);
                }
            }
            out.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private static boolean isPlain(DataType type, String text) {
        return type instanceof NumericType
                ? NUMBER.matcher(text).matches()
                : type instanceof BooleanType && (text.equals("true") || text.equals("false"));
    }
}
