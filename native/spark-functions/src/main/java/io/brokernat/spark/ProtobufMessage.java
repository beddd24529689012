package io.brokernat.spark;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/**
 * Reads a message as a STRUCT, by Protobuf's rules: fields come in any order, the last value of a single field is used,
 * values of a repeated field are collected, parts of a message are merged, a member of a oneof removes the others, a
 * field without a column is skipped.
 *
 * <p>Fields of writer and columns are matched by their numbers.
 */
final class ProtobufMessage extends ProtobufReader {
    private static final int MOST_DENSE = 256;

    /** One field per column. */
    private final Field[] columns;

    /** The fields by number up to {@link #MOST_DENSE}, null if no column needs one; {@link #sparse} has the others. */
    private final Field[] dense;

    private final Map<Integer, Field> sparse = new LinkedHashMap<>();

    /** @throws IncompatibleException if a column cannot be read from the writer's message */
    ProtobufMessage(Descriptor written, Descriptor wanted, String label) {
        super(WireFormat.WIRETYPE_LENGTH_DELIMITED);
        List<FieldDescriptor> fields = wanted.getFields();
        columns = new Field[fields.size()];
        int last = 0;
        for (FieldDescriptor field : fields) {
            String inner = label.isEmpty() ? field.getName() : label + "." + field.getName();
            columns[field.getIndex()] = new Field(written.findFieldByNumber(field.getNumber()), field, inner);
            last = field.getNumber() <= MOST_DENSE ? Math.max(last, field.getNumber()) : last;
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

    int size() {
        return columns.length;
    }

    @Override
    Object read(ProtobufBytes in, Object before) throws IOException {
        Object[] row = before == null ? new Object[columns.length] : (Object[]) before;
        int end = in.enter();
        readInto(row, 0, in);
        in.stream.popLimit(end);
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

    /** Reads fields to the end of the current part; the first column is {@code row[offset]}. */
    void readInto(Object[] row, int offset, ProtobufBytes in) throws IOException {
        while (!in.stream.isAtEnd()) {
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

    /** Converts the read values to those of the columns. */
    void finish(Object[] row, int offset) throws IOException {
        for (int column = 0; column < columns.length; column++) {
            row[offset + column] = columns[column].finished(row[offset + column]);
        }
    }

    /** The value of a missing field: empty, a fault, null, or its type's zero. */
    enum Kind {
        MAP, REPEATED, REQUIRED, OPTIONAL, IMPLICIT;

        static Kind of(FieldDescriptor field) {
            if (field.isRepeated()) {
                return field.isMapField() ? MAP : REPEATED;
            }
            return field.isRequired() ? REQUIRED : field.hasPresence() ? OPTIONAL : IMPLICIT;
        }
    }

    /** One column and the writer's field for it. */
    private static final class Field {
        final int number;
        final int column;
        final int[] rivals;
        final boolean isWritten;
        private final String label;
        private final Kind kind;
        private final ProtobufReader value;
        private final ProtobufReader key;

        /** @param written null if the writer's message does not have it */
        Field(FieldDescriptor written, FieldDescriptor wanted, String label) {
            this.label = label;
            column = wanted.getIndex();
            rivals = rivals(wanted);
            number = wanted.getNumber();
            kind = Kind.of(wanted);
            isWritten = written != null;
            if (!isWritten && kind == Kind.REQUIRED) {
                throw new IncompatibleException(label, "it is required and not written");
            }
            if (isWritten && !amount(written).equals(amount(wanted))) {
                throw new IncompatibleException(label, "it is written as " + amount(written) + ", expected " + amount(wanted));
            }
            // A field that is not written is zero, null or empty, which depends only on the column.
            FieldDescriptor source = isWritten ? written : wanted;
            if (kind == Kind.MAP) {
                Descriptor from = source.getMessageType(), to = wanted.getMessageType();
                key = of(from.findFieldByNumber(1), to.findFieldByNumber(1), label);
                value = of(from.findFieldByNumber(2), to.findFieldByNumber(2), label + "[]");
            } else {
                key = null;
                value = of(source, wanted, kind == Kind.REPEATED ? label + "[]" : label);
            }
        }

        private static int[] rivals(FieldDescriptor field) {
            OneofDescriptor oneof = field.getRealContainingOneof();
            List<FieldDescriptor> members = oneof == null ? List.of() : oneof.getFields();
            return members.stream().filter(each -> each != field).mapToInt(FieldDescriptor::getIndex).toArray();
        }

        /** How often a field may occur. */
        private static String amount(FieldDescriptor field) {
            return field.isMapField() ? "map" : field.isRepeated() ? "repeated" : "a single value";
        }

        Object read(ProtobufBytes in, int wire, Object before) throws IOException {
            switch (kind) {
                case REPEATED:
                    return readElements(in, wire, before == null ? new ArrayList<>() : (List<?>) before);
                case MAP:
                    check(wire, WireFormat.WIRETYPE_LENGTH_DELIMITED);
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
            if (wire == WireFormat.WIRETYPE_LENGTH_DELIMITED && value.wire != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                int end = in.enter();
                while (!in.stream.isAtEnd()) {
                    elements.add(value.read(in, null));
                }
                in.stream.popLimit(end);
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
            while (!in.stream.isAtEnd()) {
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
            in.stream.popLimit(end);
            entries.put(foundKey == null ? key.zero() : foundKey, found == null ? value.zero() : value.finished(found));
            return entries;
        }

        Object finished(Object read) throws IOException {
            switch (kind) {
                case REPEATED:
                    return new GenericArrayData(read == null ? new Object[0] : ((List<?>) read).toArray());
                case MAP:
                    Map<?, ?> entries = read == null ? Map.of() : (Map<?, ?>) read;
                    Object[] keys = entries.keySet().toArray(), values = entries.values().toArray();
                    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
                case IMPLICIT:
                    return read == null ? value.zero() : value.finished(read);
                case REQUIRED:
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
