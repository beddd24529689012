package io.brokernat.spark;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import java.io.IOException;
import java.io.StreamTokenizer;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Set;

/**
 * Converts a registry's {@code .proto} text to a descriptor, because the library reads only descriptors.
 *
 * <p>Skips everything that does not affect the bytes of a message (options, services, extensions, reserved numbers).
 * Type names are not resolved: {@link ProtobufSchema} links them.
 */
final class ProtoText {
    private static final Set<String> SCALARS = Set.of(
            "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
            "sfixed32", "sfixed64", "bool", "string", "bytes");
    private static final Set<String> LABELS = Set.of("optional", "required", "repeated");
    private static final int MOST_LEVELS = 100;

    private final StreamTokenizer tokens;
    private final FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder();
    /** Empty at the end of the text. A string has its opening quote, as a double one, and no closing one. */
    private String token;
    private boolean isProto3;
    private int level;

    /** A text that cannot be parsed. */
    static final class UnreadableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnreadableException(String message) {
            super(message);
        }
    }

    private ProtoText(String text) {
        tokens = tokens(text);
        next();
    }

    /**
     * @param path by which other files import it
     * @throws UnreadableException if the text is not a {@code .proto} file, or has an edition
     */
    static FileDescriptorProto parse(String path, String text) {
        ProtoText reader = new ProtoText(text);
        reader.readFile();
        return reader.file.setName(path).build();
    }

    private static StreamTokenizer tokens(String text) {
        StreamTokenizer tokens = new StreamTokenizer(new StringReader(text));
        tokens.resetSyntax();
        tokens.whitespaceChars(0, ' ');
        tokens.wordChars('a', 'z');
        tokens.wordChars('A', 'Z');
        tokens.wordChars('0', '9');
        tokens.wordChars('_', '_');
        tokens.wordChars('.', '.');
        tokens.quoteChar('"');
        tokens.quoteChar('\'');
        tokens.slashSlashComments(true);
        tokens.slashStarComments(true);
        return tokens;
    }

    private void next() {
        try {
            int type = tokens.nextToken();
            boolean isWord = type == StreamTokenizer.TT_WORD;
            boolean isText = type == '"' || type == '\'';
            String other = type == StreamTokenizer.TT_EOF ? "" : String.valueOf((char) type);
            token = isWord ? tokens.sval : isText ? '"' + tokens.sval : other;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
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

    /** Skips to the end of a statement, or of the block that ends it. */
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

    /** Skips options such as {@code [deprecated = true]}. */
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
        while (!token.isEmpty()) {
            switch (token) {
                case "syntax":
                    taken();
                    expect("=");
                    isProto3 = taken().contains("proto3");
                    file.setSyntax(isProto3 ? "proto3" : "proto2");
                    expect(";");
                    break;
                case "edition":
                    throw new UnreadableException("it has an edition, which is not supported; proto2 and proto3 are");
                case "package":
                    taken();
                    file.setPackage(name());
                    expect(";");
                    break;
                case "import":
                    readImport();
                    break;
                case "message":
                    taken();
                    readMessage(file.addMessageTypeBuilder(), name());
                    break;
                case "enum":
                    taken();
                    readEnum(file.addEnumTypeBuilder());
                    break;
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

    private void readImport() {
        taken();
        if (took("public")) {
            file.addPublicDependency(file.getDependencyCount());
        }
        took("weak");
        file.addDependency(taken().substring(1));
        expect(";");
    }

    private void readMessage(DescriptorProto.Builder message, String name) {
        if (++level > MOST_LEVELS) {
            throw new UnreadableException("more than " + MOST_LEVELS + " messages are inside of each other");
        }
        message.setName(name);
        expect("{");
        while (!took("}")) {
            switch (token) {
                case "message":
                    taken();
                    readMessage(message.addNestedTypeBuilder(), name());
                    break;
                case "enum":
                    taken();
                    readEnum(message.addEnumTypeBuilder());
                    break;
                case "oneof":
                    taken();
                    readOneof(message);
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
                    readField(message);
            }
        }
        // Like protoc, adds a oneof for each `optional` field of proto3, after the oneofs of the text.
        for (FieldDescriptorProto.Builder field : message.getFieldBuilderList()) {
            if (field.getProto3Optional()) {
                field.setOneofIndex(message.getOneofDeclCount());
                message.addOneofDeclBuilder().setName("_" + field.getName());
            }
        }
        level--;
    }

    private void readOneof(DescriptorProto.Builder message) {
        message.addOneofDeclBuilder().setName(name());
        expect("{");
        while (!took("}")) {
            if (token.equals("option")) {
                skipStatement();
            } else if (!took(";")) {
                readField(message).setOneofIndex(message.getOneofDeclCount() - 1);
            }
        }
    }

    private FieldDescriptorProto.Builder readField(DescriptorProto.Builder message) {
        FieldDescriptorProto.Builder field = message.addFieldBuilder().setLabel(Label.LABEL_OPTIONAL);
        if (LABELS.contains(token)) {
            field.setProto3Optional(isProto3 && token.equals("optional"));
            field.setLabel(Label.valueOf("LABEL_" + taken().toUpperCase(Locale.ROOT)));
        }
        String type = typeName();
        DescriptorProto.Builder entry = null;
        if (type.equals("map") && took("<")) {
            // Like protoc, converts a map to repeated messages with a key and a value.
            entry = message.addNestedTypeBuilder();
            entry.getOptionsBuilder().setMapEntry(true);
            setType(entry.addFieldBuilder().setName("key").setNumber(1).setLabel(Label.LABEL_OPTIONAL), typeName());
            expect(",");
            setType(entry.addFieldBuilder().setName("value").setNumber(2).setLabel(Label.LABEL_OPTIONAL), typeName());
            expect(">");
            field.setLabel(Label.LABEL_REPEATED);
        }
        String name = name();
        expect("=");
        field.setName(name).setNumber(number());
        skipOptions();
        if (type.equals("group")) {
            readMessage(message.addNestedTypeBuilder(), name);
            return field.setName(name.toLowerCase(Locale.ROOT)).setTypeName(name).setType(Type.TYPE_GROUP);
        }
        expect(";");
        if (entry != null) {
            type = entry.setName(name + "Entry").getName();
        }
        return setType(field, type);
    }

    private String typeName() {
        return token.startsWith(".") ? taken() : name();
    }

    private static FieldDescriptorProto.Builder setType(FieldDescriptorProto.Builder field, String type) {
        return SCALARS.contains(type)
                ? field.setType(Type.valueOf("TYPE_" + type.toUpperCase(Locale.ROOT)))
                : field.setTypeName(type);
    }

    private void readEnum(EnumDescriptorProto.Builder symbols) {
        symbols.setName(name());
        expect("{");
        while (!took("}")) {
            if (token.equals("option") || token.equals("reserved")) {
                skipStatement();
            } else if (!took(";")) {
                String symbol = name();
                expect("=");
                symbols.addValueBuilder().setName(symbol).setNumber(number());
                skipOptions();
                expect(";");
            }
        }
    }
}
