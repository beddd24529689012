package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;

/** Reads an array as an ARRAY. */
final class ArrayReader extends ValueReader {
    private final ValueReader element;

    ArrayReader(ArrayType type, String label, boolean nullable, ZoneId zone) {
        super(type, label, nullable);
        element = of(type.elementType(), label + "[]", type.containsNull(), zone);
    }

    @Override
    Object value(JsonParser in, Mismatch mismatch) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            return null;
        }
        List<Object> elements = new ArrayList<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
            elements.add(element.read(in, mismatch));
        }
        return new GenericArrayData(elements.toArray());
    }
}
