package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads an object as a MAP with STRING keys. */
final class MapReader extends ValueReader {
    private final ValueReader element;

    MapReader(MapType type, String label, boolean nullable, ZoneId zone) {
        super(type, label, nullable);
        element = of(type.valueType(), label + "[]", type.valueContainsNull(), zone);
    }

    @Override
    Object value(JsonParser in, Mismatch mismatch) throws IOException {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            return null;
        }
        List<Object> keys = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            UTF8String key = Utf8.encoded(name);
            if (key == null) {
                mismatch.first(expected);
            }
            keys.add(key);
            values.add(element.read(in, mismatch));
        }
        return new ArrayBasedMapData(new GenericArrayData(keys.toArray()), new GenericArrayData(values.toArray()));
    }
}
