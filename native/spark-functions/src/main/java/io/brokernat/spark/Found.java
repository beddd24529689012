package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;

/** Describes a value of a wrong type with the type names of a schema. */
final class Found {
    private static final int MOST_DIGITS = 38;

    private Found() {}

    /** The kind and the text of a field of the object that the parser reads next; {@code none} if it is missing. */
    static String inField(JsonParser in, String field, byte[] value, int characters) throws IOException {
        in.nextToken();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            if (name.equals(field)) {
                String kind = kind(in);
                int from = (int) in.currentTokenLocation().getByteOffset();
                in.skipChildren();
                // The parser reads a number completely only when its text is requested.
                in.getTextLength();
                int to = (int) in.currentLocation().getByteOffset();
                return kind + " " + Utf8.beginning(value, from, to, characters);
            }
            in.skipChildren();
        }
        return "none";
    }

    /** The kind of a token: STRING, BIGINT, DECIMAL(4,3), DOUBLE, BOOLEAN, OBJECT, ARRAY, or VOID for null. */
    static String kind(JsonParser in) throws IOException {
        switch (in.currentToken()) {
            case START_OBJECT:
                return "OBJECT";
            case START_ARRAY:
                return "ARRAY";
            case VALUE_STRING:
                return "STRING";
            case VALUE_TRUE:
            case VALUE_FALSE:
                return "BOOLEAN";
            case VALUE_NULL:
                return "VOID";
            default:
                return number(in);
        }
    }

    private static String number(JsonParser in) throws IOException {
        String text = in.getText();
        boolean plain = text.indexOf('e') < 0 && text.indexOf('E') < 0;
        if (in.currentToken() == JsonToken.VALUE_NUMBER_INT && in.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            return "BIGINT";
        }
        BigDecimal digits = plain ? new BigDecimal(text) : BigDecimal.ZERO;
        int precision = Math.max(digits.precision(), digits.scale());
        return plain && precision <= MOST_DIGITS ? "DECIMAL(" + precision + "," + digits.scale() + ")" : "DOUBLE";
    }
}
