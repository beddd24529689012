package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Reads an object as a STRUCT. Names are case-sensitive; names that are not in the schema are skipped; an object with
 * two equal names is not JSON.
 */
final class StructReader extends ValueReader {
    private final Map<String, Integer> places = new HashMap<>();
    private final ValueReader[] readers;
    private final boolean anyRequired;

    StructReader(StructType type, String label, boolean nullable, ZoneId zone) {
        super(type, label, nullable);
        StructField[] fields = type.fields();
        readers = new ValueReader[fields.length];
        boolean required = false;
        for (int place = 0; place < fields.length; place++) {
            String name = fields[place].name();
            DataType fieldType = fields[place].dataType();
            places.put(name, place);
            readers[place] = of(fieldType, label.isEmpty() ? name : label + "." + name, fields[place].nullable(), zone);
            required |= !fields[place].nullable();
        }
        anyRequired = required;
    }

    int size() {
        return readers.length;
    }

    @Override
    Object value(JsonParser in, Mismatch mismatch) throws IOException {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            return null;
        }
        Object[] row = new Object[readers.length];
        readInto(row, 0, in, mismatch);
        return new GenericInternalRow(row);
    }

    /** Reads the object at the parser's token; its first field goes to {@code row[offset]}. */
    void readInto(Object[] row, int offset, JsonParser in, Mismatch mismatch) throws IOException {
        String before = mismatch.sentence;
        String worst = null;
        int worstPlace = readers.length;
        boolean[] seen = new boolean[readers.length];
        Set<String> others = null;
        // Jackson would put all names of this object into a set, but most of them are fields, which `seen` has.
        in.disable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            Integer place = places.get(name);
            if (place == null) {
                others = others == null ? new HashSet<>() : others;
                failIf(!others.add(name), in);
                skip(in);
                continue;
            }
            failIf(seen[place], in);
            seen[place] = true;
            detectDuplicateNames(in);
            mismatch.sentence = null;
            row[offset + place] = readers[place].read(in, mismatch);
            if (mismatch.sentence != null && place < worstPlace) {
                worst = mismatch.sentence;
                worstPlace = place;
            }
        }
        for (int place = 0; anyRequired && place < worstPlace; place++) {
            mismatch.sentence = null;
            if (!seen[place]) {
                readers[place].missing(mismatch);
            }
            if (mismatch.sentence != null) {
                worst = mismatch.sentence;
                worstPlace = place;
            }
        }
        mismatch.sentence = before != null ? before : worst;
        mismatch.field = worstPlace;
    }

    private static void failIf(boolean isDuplicate, JsonParser in) throws JsonParseException {
        if (isDuplicate) {
            throw new JsonParseException(in, "an object with two equal names");
        }
    }
}
