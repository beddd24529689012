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
 * Reads the value at a parser's token as one declared type, in Spark's own representation of it.
 *
 * <p>Strict where {@code from_json} and casts are generous, because a generous reading is a wrong tag that nobody
 * notices: a number is not a STRING, a quoted number is not a number, seconds and milliseconds are not a TIMESTAMP, a
 * value that does not fit is not rounded or cut. A null or a missing value is well unless the schema says NOT NULL.
 */
abstract class ValueReader {
    /** The sentence for a value of another type, such as {@code field `items[].price`: expected DECIMAL(5,2)}. */
    final String expected;

    private final String absent;

    /** @param label how sentences name the value: {@code address.city}, {@code items[].price}. */
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
     * @return null for a JSON null, and where {@code mismatch} was set.
     * @throws IOException the text is not JSON.
     */
    final Object read(JsonParser in, Mismatch mismatch) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NULL) {
            return ofNull(in, mismatch);
        }
        Object value = value(in, mismatch);
        if (value == null) {
            in.skipChildren();
            mismatch.first(expected);
        }
        return value;
    }

    /** What a value that is not there is: null, and a mismatch where the schema says NOT NULL. */
    final Object missing(Mismatch mismatch) {
        if (absent != null) {
            mismatch.first(absent);
        }
        return null;
    }

    final boolean isNullable() {
        return absent == null;
    }

    /** What a JSON null is read as. */
    Object ofNull(JsonParser in, Mismatch mismatch) throws IOException {
        return missing(mismatch);
    }

    /** The value at a token that is no null; null where it does not have the type, the parser still at that token. */
    abstract Object value(JsonParser in, Mismatch mismatch) throws IOException;
}
