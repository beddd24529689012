package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.ZoneId;
import java.util.Locale;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/**
 * Reads the value at a parser's token as one declared type, in Spark's own representation.
 *
 * <p>Stricter than {@code from_json} and casts, because a tolerant conversion makes a wrong tag that nobody notices: a
 * number is not a STRING, a quoted number is not a number, seconds and milliseconds are not a TIMESTAMP, a value that
 * does not fit is not rounded or truncated. A null or a missing value is valid unless the schema has NOT NULL.
 */
abstract class ValueReader {
    /** The message for a value of another type, such as {@code field `items[].price`: expected DECIMAL(5,2)}. */
    final String expected;

    private final String absent;

    /** @param label the value's name in messages: {@code address.city}, {@code items[].price}. */
    ValueReader(DataType type, String label, boolean nullable) {
        String name = type.simpleString();
        int inner = name.indexOf('<');
        String written = (inner < 0 ? name : name.substring(0, inner)).toUpperCase(Locale.ROOT);
        expected = "field `" + label + "`: expected " + written;
        absent = nullable ? null : "field `" + label + "`: expected a value (NOT NULL)";
    }

    static ValueReader of(DataType type, String label, boolean nullable, ZoneId zone) {
        if (type instanceof StructType) {
            return new StructReader((StructType) type, label, nullable, zone);
        }
        if (type instanceof ArrayType) {
            return new ArrayReader((ArrayType) type, label, nullable, zone);
        }
        if (type instanceof MapType) {
            return new MapReader((MapType) type, label, nullable, zone);
        }
        if (type instanceof DecimalType) {
            return new ScalarReaders.OfDecimal((DecimalType) type, label, nullable);
        }
        switch (type.typeName()) {
            case "string":
                return new ScalarReaders.OfString(type, label, nullable);
            case "boolean":
                return new ScalarReaders.OfBoolean(type, label, nullable);
            case "byte":
            case "short":
            case "integer":
            case "long":
                return new ScalarReaders.OfInteger(type, label, nullable);
            case "float":
            case "double":
                return new ScalarReaders.OfFloat(type, label, nullable);
            case "date":
            case "timestamp":
            case "timestamp_ntz":
                return new ScalarReaders.OfTime(type, label, nullable, zone);
            case "variant":
                return new VariantReader(type, label, nullable);
            default:
                throw new IllegalArgumentException("field `" + label + "`: " + type.simpleString() + " cannot be read from JSON");
        }
    }

    /**
     * Reads the value and leaves the parser at its last token.
     *
     * @return null for a JSON null, and if {@code mismatch} was set.
     * @throws IOException if the text is not JSON.
     */
    final Object read(JsonParser in, Mismatch mismatch) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NULL) {
            return ofNull(in, mismatch);
        }
        Object value = value(in, mismatch);
        if (value == null) {
            skip(in);
            mismatch.first(expected);
        }
        return value;
    }

    /** Skips the value at the parser's token. */
    static void skip(JsonParser in) throws IOException {
        detectDuplicateNames(in);
        in.skipChildren();
    }

    /** Makes Jackson fail if an object in the value at the parser's token has two equal names. */
    static void detectDuplicateNames(JsonParser in) {
        if (in.currentToken().isStructStart()) {
            in.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
        }
    }

    /** The result for a missing value: null, and a mismatch if the schema has NOT NULL. */
    final Object missing(Mismatch mismatch) {
        if (absent != null) {
            mismatch.first(absent);
        }
        return null;
    }

    final boolean isNullable() {
        return absent == null;
    }

    /** The result for a JSON null. */
    Object ofNull(JsonParser in, Mismatch mismatch) throws IOException {
        return missing(mismatch);
    }

    /** The value at a token other than null; null if it has another type, and the parser stays at that token. */
    abstract Object value(JsonParser in, Mismatch mismatch) throws IOException;
}
