package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.time.ZoneId;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes one JSON object to one row, strictly and in one pass: a value of a wrong type is a fault, never a null.
 *
 * <p>The row contains the fault (kind, message), null if there is none, and a field per field of the schema, all null
 * if there is a fault. Syntax errors come before type errors: a value that ends too early after a wrong field is not
 * JSON. The message names the first wrong field of the schema. A record with a wrong type is parsed a second time to
 * show the value found, so a value is parsed at most twice.
 */
final class JsonDecoder implements Decoder {
    private static final int SHOWN = 80;

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            // Names come from records: interning them, or failing on hash collisions, would allow denial of service.
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
            // The record's size bounds its strings. Nesting depth and digits of a number keep Jackson's limits (1,000).
            .streamReadConstraints(StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
            .build();

    private final String[] names;
    private final StructReader object;

    JsonDecoder(StructType schema, ZoneId zone) {
        names = schema.fieldNames();
        object = new StructReader(schema, "", true, zone);
    }

    @Override
    public InternalRow decode(byte[] value) {
        if (value == null) {
            return Decoder.tombstone(object.size());
        }
        if (Utf8.isBlank(value)) {
            return fault("MalformedValue", "the value is empty");
        }
        if (!Utf8.isValid(value)) {
            return fault("MalformedValue", "the value is not UTF-8");
        }
        // Jackson skips a byte order mark and detects UTF-16 by zero bytes; JSON in UTF-8 begins with neither.
        if (value[0] == 0 || value[0] == (byte) 0xEF || value.length > 1 && value[1] == 0) {
            return notJson(value);
        }
        try (JsonParser in = JSON.createParser(value)) {
            JsonToken first = in.nextToken();
            if (first != JsonToken.START_OBJECT) {
                String found = Found.kind(in);
                in.skipChildren();
                return in.nextToken() == null ? fault("WrongType", "the value is not a JSON object but " + found) : notJson(value);
            }
            Object[] row = new Object[object.size() + 1];
            Mismatch mismatch = new Mismatch();
            object.readInto(row, 1, in, mismatch);
            if (in.nextToken() != null) {
                return notJson(value);
            }
            return mismatch.sentence == null ? new GenericInternalRow(row) : wrongType(value, mismatch);
        } catch (IOException error) {
            return notJson(value);
        }
    }

    private InternalRow wrongType(byte[] value, Mismatch mismatch) throws IOException {
        try (JsonParser in = JSON.createParser(value)) {
            String found = Found.inField(in, names[mismatch.field], value, SHOWN);
            return fault("WrongType", mismatch.sentence + ", found " + found);
        }
    }

    private InternalRow notJson(byte[] value) {
        return fault("MalformedValue", "the value is not JSON: " + Utf8.beginning(value, 0, value.length, SHOWN));
    }

    private InternalRow fault(String kind, String message) {
        return Decoder.fault(object.size(), kind, message);
    }
}
