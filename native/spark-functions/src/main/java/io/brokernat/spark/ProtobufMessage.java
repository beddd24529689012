package io.brokernat.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * A message as a STRUCT, by Protobuf's rules: fields in any order, the last of a single field counts, those of a
 * repeated field are collected, parts of a message are put together, a member of a oneof removes the others, a field
 * that no column needs is passed over.
 *
 * <p>Fields of writer and columns are matched by their numbers.
 */
final class ProtobufMessage extends ProtobufReader {
    private static final int MOST_DENSE = 256;

    /** A field for each column. */
    private final Field[] columns;

    /** The fields by their numbers up to {@link #MOST_DENSE}, null where no column needs one; the others. */
    private final Field[] dense;

    private final Map<Integer, Field> sparse = new LinkedHashMap<>();

    /** @throws IncompatibleException a column cannot be made of what is written */
    ProtobufMessage(ProtobufSchema writer, String written, ProtobufSchema reader, String wanted, String label) {
        super(ProtobufBytes.DELIMITED);
        List<ProtobufSchema.Field> fields = reader.messages.get(wanted);
        columns = new Field[fields.size()];
        int last = 0;
        for (int column = 0; column < columns.length; column++) {
            ProtobufSchema.Field field = fields.get(column);
            String inner = label.isEmpty() ? field.name : label + "." + field.name;
            ProtobufSchema.Field found = null;
            for (ProtobufSchema.Field each : writer.messages.get(written)) {
                found = each.number == field.number ? each : found;
            }
            columns[column] = new Field(writer, found, reader, field, inner, column, rivals(fields, column));
            last = field.number <= MOST_DENSE ? Math.max(last, field.number) : last;
        }
        dense = new Field[last + 1];
        for (Field field : columns) {
            if (field.isWritten && field.number <= last) {
                dense[field.number] = field;
            } else if (field.isWritten) {
                sparse.put(field.number, field);
            }
        }
    }

    private static int[] rivals(List<ProtobufSchema.Field> fields, int column) {
        String oneof = fields.get(column).oneof;
        List<Integer> found = new ArrayList<>();
        for (int other = 0; oneof != null && other < fields.size(); other++) {
            if (other != column && oneof.equals(fields.get(other).oneof)) {
                found.add(other);
            }
        }
        return found.stream().mapToInt(Integer::intValue).toArray();
    }

    int size() {
        return columns.length;
    }

    @Override
    Object read(ProtobufBytes in, Object before) throws IOException {
        Object[] row = before == null ? new Object[columns.length] : (Object[]) before;
        int end = in.enter();
        readInto(row, 0, in);
        in.leave(end);
        return row;
    }

    @Override
    Object finished(Object read) throws IOException {
        Object[] row = (Object[]) read;
        finish(row, 0);
        return new GenericInternalRow(row);
    }

    @Override
    Object zero() throws IOException {
        return finished(new Object[columns.length]);
    }

    /** Reads fields until the part ends that was entered; the first column is {@code row[offset]}. */
    void readInto(Object[] row, int offset, ProtobufBytes in) throws IOException {
        while (in.left() > 0) {
            int tag = in.tag(), number = tag >>> 3;
            Field field = number < dense.length ? dense[number] : sparse.get(number);
            if (field == null) {
                in.skip(tag);
                continue;
            }
            int place = offset + field.column;
            row[place] = field.read(in, tag & 7, row[place]);
            for (int rival : field.rivals) {
                row[offset + rival] = null;
            }
        }
    }

    /** What was read to what the columns hold. */
    void finish(Object[] row, int offset) throws IOException {
        for (int column = 0; column < columns.length; column++) {
            row[offset + column] = columns[column].finished(row[offset + column]);
        }
    }

    /** One column, and the writer's field that it is made of. */
    private static final class Field {
        final int number;
        final int column;
        final int[] rivals;
        final boolean isWritten;
        private final String label;
        private final String kind;
        private final ProtobufReader value;
        private final ProtobufReader key;

        Field(
                ProtobufSchema writer,
                ProtobufSchema.Field written,
                ProtobufSchema reader,
                ProtobufSchema.Field wanted,
                String label,
                int column,
                int[] rivals) {
            this.label = label;
            this.column = column;
            this.rivals = rivals;
            number = wanted.number;
            kind = wanted.label;
            isWritten = written != null;
            if (!isWritten && kind.equals("required")) {
                throw new IncompatibleException(label, "it is required and not written");
            }
            boolean isOther = isWritten && !amount(written.label).equals(amount(kind));
            if (isOther) {
                String found = amount(written.label) + ", expected " + amount(kind);
                throw new IncompatibleException(label, "it is written as " + found);
            }
            boolean isMany = kind.equals("repeated") || kind.equals("map");
            // What is not written is zero, null or empty, and that depends on the column alone.
            ProtobufSchema source = isWritten ? writer : reader;
            String inner = isMany ? label + "[]" : label;
            value = of(source, isWritten ? written.type : wanted.type, reader, wanted.type, inner);
            key = kind.equals("map") ? of(source, isWritten ? written.key : wanted.key, reader, wanted.key, label) : null;
        }

        /** What a label means for the wire. */
        private static String amount(String label) {
            return label.equals("repeated") || label.equals("map") ? label : "a single value";
        }

        Object read(ProtobufBytes in, int wire, Object before) throws IOException {
            switch (kind) {
                case "repeated":
                    return readElements(in, wire, before == null ? new ArrayList<>() : (List<?>) before);
                case "map":
                    check(wire, ProtobufBytes.DELIMITED);
                    return readEntry(in, before == null ? new LinkedHashMap<>() : (Map<?, ?>) before);
                default:
                    check(wire, value.wire);
                    return value.read(in, before);
            }
        }

        private void check(int wire, int expected) throws IOException {
            if (wire != expected) {
                throw new IOException("field `" + label + "` has the wire type " + wire + ", not " + expected);
            }
        }

        private Object readElements(ProtobufBytes in, int wire, List<?> before) throws IOException {
            @SuppressWarnings("unchecked")
            List<Object> elements = (List<Object>) before;
            if (wire == ProtobufBytes.DELIMITED && value.wire != ProtobufBytes.DELIMITED) {
                int end = in.enter();
                while (in.left() > 0) {
                    elements.add(value.read(in, null));
                }
                in.leave(end);
            } else {
                check(wire, value.wire);
                elements.add(value.finished(value.read(in, null)));
            }
            return elements;
        }

        private Object readEntry(ProtobufBytes in, Map<?, ?> before) throws IOException {
            @SuppressWarnings("unchecked")
            Map<Object, Object> entries = (Map<Object, Object>) before;
            Object foundKey = null, found = null;
            int end = in.enter();
            while (in.left() > 0) {
                int tag = in.tag();
                switch (tag >>> 3) {
                    case 1:
                        check(tag & 7, key.wire);
                        foundKey = key.read(in, null);
                        break;
                    case 2:
                        check(tag & 7, value.wire);
                        found = value.read(in, found);
                        break;
                    default:
                        in.skip(tag);
                }
            }
            in.leave(end);
            entries.put(foundKey == null ? key.zero() : foundKey, found == null ? value.zero() : value.finished(found));
            return entries;
        }

        Object finished(Object read) throws IOException {
            switch (kind) {
                case "repeated":
                    return new GenericArrayData(read == null ? new Object[0] : ((List<?>) read).toArray());
                case "map":
                    Map<?, ?> entries = read == null ? Map.of() : (Map<?, ?>) read;
                    Object[] keys = entries.keySet().toArray(), values = entries.values().toArray();
                    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
                case "implicit":
                    return read == null ? value.zero() : value.finished(read);
                case "required":
                    if (read == null) {
                        throw new MismatchException(label, "it is required and not there");
                    }
                    return value.finished(read);
                default:
                    return read == null ? null : value.finished(read);
            }
        }
    }
}
