package io.brokernat.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A {@code .proto} text, which a registry gives, as a {@link ProtobufSchema}.
 *
 * <p>What says nothing of the bytes of a message (options, services, extensions, reserved numbers) is passed over. A
 * text that protoc refuses may be read.
 */
final class ProtoText {
    /** The types that every Protobuf library brings, and that no registry lists as references. */
    static final String WELL_KNOWN = "syntax = \"proto3\"; package google.protobuf;"
            + "message Timestamp {int64 seconds = 1; int32 nanos = 2;}"
            + "message Duration {int64 seconds = 1; int32 nanos = 2;}"
            + "message DoubleValue {double value = 1;} message FloatValue {float value = 1;}"
            + "message Int64Value {int64 value = 1;} message UInt64Value {uint64 value = 1;}"
            + "message Int32Value {int32 value = 1;} message UInt32Value {uint32 value = 1;}"
            + "message BoolValue {bool value = 1;} message StringValue {string value = 1;}"
            + "message BytesValue {bytes value = 1;}"
            + "message Any {string type_url = 1; bytes value = 2;} message Empty {}"
            + "message FieldMask {repeated string paths = 1;}"
            + "message Struct {map<string, Value> fields = 1;} message ListValue {repeated Value values = 1;}"
            + "message Value {oneof kind {NullValue null_value = 1; double number_value = 2; string string_value = 3;"
            + "  bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6;}}"
            + "enum NullValue {NULL_VALUE = 0;}";

    private static final Set<String> SCALARS = Set.of(
            "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
            "sfixed32", "sfixed64", "bool", "string", "bytes");
    private static final Set<String> LABELS = Set.of("optional", "required", "repeated");
    private static final int MOST_LEVELS = 100;

    private final ProtobufSchema schema;
    private final String text;
    private int place;
    /** Empty behind the last one. */
    private String token;
    private boolean isProto3;
    private String filePackage = "";
    private int level;

    /** A text that cannot be read. */
    static final class UnreadableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnreadableException(String message) {
            super(message);
        }
    }

    private ProtoText(ProtobufSchema schema, String text) {
        this.schema = schema;
        this.text = text;
        next();
    }

    /**
     * @param imports the texts that it imports, and that these import
     * @throws UnreadableException it is no such text, or has an edition
     */
    static ProtobufSchema parse(String text, Iterable<String> imports) {
        ProtobufSchema schema = new ProtobufSchema();
        new ProtoText(schema, WELL_KNOWN).readFile();
        for (String each : imports) {
            new ProtoText(schema, each).readFile();
        }
        schema.byIndex.clear();
        new ProtoText(schema, text).readFile();
        schema.messages.replaceAll((name, fields) -> resolved(schema, name, fields));
        return schema;
    }

    /** Names of types as they are from the inside of a message to full ones. */
    private static List<ProtobufSchema.Field> resolved(
            ProtobufSchema schema, String message, List<ProtobufSchema.Field> fields) {
        List<ProtobufSchema.Field> found = new ArrayList<>();
        for (ProtobufSchema.Field each : fields) {
            String type = SCALARS.contains(each.type) ? each.type : fullName(schema, message, each.type);
            // A message that is not there shows, whatever the syntax.
            boolean hasPresence = each.label.equals("implicit") && schema.messages.containsKey(type);
            String label = hasPresence ? "optional" : each.label;
            found.add(new ProtobufSchema.Field(each.name, each.number, label, type, each.key, each.oneof));
        }
        return found;
    }

    private static String fullName(ProtobufSchema schema, String scope, String name) {
        if (name.startsWith(".")) {
            return name.substring(1);
        }
        for (String around = scope; !around.isEmpty(); around = outside(around)) {
            String full = around + "." + name;
            if (schema.messages.containsKey(full) || schema.enums.containsKey(full)) {
                return full;
            }
        }
        return name;
    }

    private static String outside(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('.')));
    }

    private void next() {
        skipBlanks();
        int from = place;
        if (place < text.length()) {
            char first = text.charAt(place++);
            if (first == '"' || first == '\'') {
                skipString(first);
            } else if (isPartOfName(first)) {
                while (place < text.length() && isPartOfName(text.charAt(place))) {
                    place++;
                }
            }
        }
        token = text.substring(from, place);
    }

    private void skipBlanks() {
        while (place < text.length()) {
            if (Character.isWhitespace(text.charAt(place))) {
                place++;
            } else if (text.startsWith("//", place)) {
                place = behind("\n");
            } else if (text.startsWith("/*", place)) {
                place = behind("*/");
            } else {
                return;
            }
        }
    }

    private int behind(String end) {
        int found = text.indexOf(end, place + 2);
        return found < 0 ? text.length() : found + end.length();
    }

    private void skipString(char quote) {
        while (place < text.length()) {
            char each = text.charAt(place++);
            if (each == quote) {
                return;
            }
            place += each == '\\' ? 1 : 0;
        }
        throw new UnreadableException("a string has no end");
    }

    private static boolean isPartOfName(char each) {
        return each == '_' || each == '.' || each >= '0' && each <= '9' || each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z';
    }

    private String taken() {
        String before = token;
        if (before.isEmpty()) {
            throw new UnreadableException("it ends in the middle");
        }
        next();
        return before;
    }

    private boolean took(String expected) {
        boolean found = token.equals(expected);
        if (found) {
            taken();
        }
        return found;
    }

    private void expect(String expected) {
        String found = taken();
        if (!found.equals(expected)) {
            throw new UnreadableException("expected `" + expected + "`, found `" + found + "`");
        }
    }

    private String name() {
        String found = taken();
        if (!Character.isLetter(found.charAt(0)) && found.charAt(0) != '_') {
            throw new UnreadableException("expected a name, found `" + found + "`");
        }
        return found;
    }

    private int number() {
        String found = took("-") ? "-" + taken() : taken();
        try {
            return Integer.decode(found);
        } catch (NumberFormatException error) {
            throw new UnreadableException("expected a number, found `" + found + "`");
        }
    }

    /** Passes over all up to the end of a statement, or of the block that it ends with. */
    private void skipStatement() {
        int depth = 0;
        while (true) {
            String each = taken();
            if (each.equals("{")) {
                depth++;
            } else if (each.equals("}") && --depth == 0 && !token.equals(";") || each.equals(";") && depth == 0) {
                return;
            }
        }
    }

    /** Passes over {@code [deprecated = true]}. */
    private void skipOptions() {
        if (!token.equals("[")) {
            return;
        }
        int depth = 0;
        do {
            String each = taken();
            depth += each.equals("[") ? 1 : each.equals("]") ? -1 : 0;
        } while (depth > 0);
    }

    private void readFile() {
        int messages = 0;
        while (!token.isEmpty()) {
            switch (token) {
                case "syntax":
                    taken();
                    expect("=");
                    isProto3 = taken().contains("proto3");
                    expect(";");
                    break;
                case "edition":
                    throw new UnreadableException("it has an edition, which is not supported; proto2 and proto3 are");
                case "package":
                    taken();
                    filePackage = name();
                    expect(";");
                    break;
                case "message":
                    taken();
                    readMessage(filePackage, List.of(messages++));
                    break;
                case "enum":
                    taken();
                    readEnum(filePackage);
                    break;
                case "import":
                case "option":
                case "extend":
                case "service":
                    skipStatement();
                    break;
                default:
                    expect(";");
            }
        }
    }

    private static String inside(String scope, String name) {
        return scope.isEmpty() ? name : scope + "." + name;
    }

    /** @param index null for the message of a group, which no index counts */
    private void readMessage(String scope, List<Integer> index) {
        String full = inside(scope, name());
        if (index != null) {
            schema.byIndex.put(index, full);
        }
        readBody(full, index);
    }

    private void readBody(String full, List<Integer> index) {
        if (++level > MOST_LEVELS) {
            throw new UnreadableException("more than " + MOST_LEVELS + " messages are inside of each other");
        }
        List<ProtobufSchema.Field> fields = new ArrayList<>();
        schema.messages.put(full, fields);
        int messages = 0;
        expect("{");
        while (!took("}")) {
            switch (token) {
                case "message":
                    taken();
                    List<Integer> inner = new ArrayList<>(index == null ? List.of() : index);
                    inner.add(messages++);
                    readMessage(full, index == null ? null : inner);
                    break;
                case "enum":
                    taken();
                    readEnum(full);
                    break;
                case "oneof":
                    taken();
                    readOneof(full, fields);
                    break;
                case "option":
                case "extend":
                case "extensions":
                case "reserved":
                    skipStatement();
                    break;
                case ";":
                    taken();
                    break;
                default:
                    fields.add(readField(full, null));
            }
        }
        level--;
    }

    private void readOneof(String message, List<ProtobufSchema.Field> fields) {
        String oneof = name();
        expect("{");
        while (!took("}")) {
            if (token.equals("option")) {
                skipStatement();
            } else if (!took(";")) {
                fields.add(readField(message, oneof));
            }
        }
    }

    private ProtobufSchema.Field readField(String message, String oneof) {
        String label = oneof != null ? "optional" : isProto3 ? "implicit" : "optional";
        if (LABELS.contains(token)) {
            label = taken();
        }
        String key = null;
        String type = token.startsWith(".") ? taken() : name();
        if (type.equals("map") && took("<")) {
            label = "map";
            key = name();
            expect(",");
            type = token.startsWith(".") ? taken() : name();
            expect(">");
        }
        String name = name();
        expect("=");
        int number = number();
        skipOptions();
        if (type.equals("group")) {
            readBody(inside(message, name), null);
            return new ProtobufSchema.Field(name.toLowerCase(Locale.ROOT), number, label, type, null, oneof);
        }
        expect(";");
        return new ProtobufSchema.Field(name, number, label, type, key, oneof);
    }

    private void readEnum(String scope) {
        Map<String, Integer> symbols = new LinkedHashMap<>();
        schema.enums.put(inside(scope, name()), symbols);
        expect("{");
        while (!took("}")) {
            if (token.equals("option") || token.equals("reserved")) {
                skipStatement();
            } else if (!took(";")) {
                String symbol = name();
                expect("=");
                symbols.put(symbol, number());
                skipOptions();
                expect(";");
            }
        }
    }
}
