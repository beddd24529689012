package io.brokernat.spark;

import com.google.protobuf.AnyProto;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.GenericDescriptor;
import com.google.protobuf.DurationProto;
import com.google.protobuf.EmptyProto;
import com.google.protobuf.FieldMaskProto;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StructProto;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.WrappersProto;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Links files of messages, and converts messages from and to the JSON of {@code protobuf_schema.py}. */
final class ProtobufSchema {
    /** The files that every Protobuf library has, and that no registry lists as references. */
    private static final List<FileDescriptor> LIBRARY = List.of(
            AnyProto.getDescriptor(), DurationProto.getDescriptor(), EmptyProto.getDescriptor(),
            FieldMaskProto.getDescriptor(), StructProto.getDescriptor(), TimestampProto.getDescriptor(),
            WrappersProto.getDescriptor());

    private ProtobufSchema() {}

    /** The message of Python's JSON, which includes the imports of its file. */
    static Descriptor of(String json) {
        Map<String, Object> content = RegistryAnswer.object(json.getBytes(StandardCharsets.UTF_8));
        try {
            byte[] set = Base64.getDecoder().decode((String) content.get("descriptors"));
            FileDescriptor[] files = linked(FileDescriptorSet.parseFrom(set).getFileList());
            String message = (String) content.get("message");
            return Stream.of(files).map(each -> named(each, message)).filter(each -> each != null).findFirst().orElseThrow();
        } catch (InvalidProtocolBufferException | DescriptorValidationException error) {
            throw new IllegalArgumentException("the Protobuf descriptors cannot be used: " + error.getMessage(), error);
        }
    }

    /**
     * Links files that import only earlier ones. A type of a missing import becomes a message without fields.
     *
     * @throws DescriptorValidationException if Protobuf does not allow a file
     */
    static FileDescriptor[] linked(List<FileDescriptorProto> files) throws DescriptorValidationException {
        Map<String, FileDescriptor> known = new LinkedHashMap<>();
        LIBRARY.forEach(each -> known.put(each.getName(), each));
        for (FileDescriptorProto file : files) {
            FileDescriptor[] imports =
                    file.getDependencyList().stream().map(known::get).filter(each -> each != null).toArray(FileDescriptor[]::new);
            known.put(file.getName(), FileDescriptor.buildFrom(file, imports, true));
        }
        return known.values().toArray(new FileDescriptor[0]);
    }

    /** The message of a file with this full name, or null. */
    static Descriptor named(FileDescriptor file, String name) {
        return all(file.getMessageTypes()).filter(each -> each.getFullName().equals(name)).findFirst().orElse(null);
    }

    private static Stream<Descriptor> all(List<Descriptor> messages) {
        return messages.stream().flatMap(each -> Stream.concat(Stream.of(each), all(each.getNestedTypes())));
    }

    /** The message at a path in a file; {@code [1, 0]} is the first one inside the second. Null if there is none. */
    static Descriptor at(FileDescriptor file, List<Integer> index) {
        List<Descriptor> messages = file.getMessageTypes();
        Descriptor found = null;
        for (int place : index) {
            if (place < 0 || place >= messages.size()) {
                return null;
            }
            found = messages.get(place);
            messages = inside(found);
        }
        return found;
    }

    static List<Integer> index(Descriptor message) {
        LinkedList<Integer> index = new LinkedList<>();
        Descriptor inner = message;
        for (Descriptor outer = inner.getContainingType(); outer != null; outer = outer.getContainingType()) {
            index.addFirst(inside(outer).indexOf(inner));
            inner = outer;
        }
        index.addFirst(inner.getIndex());
        return index;
    }

    /** The nested messages with an index in a path. Those that Protobuf creates for maps and groups have none. */
    private static List<Descriptor> inside(Descriptor message) {
        List<Descriptor> found = new ArrayList<>(message.getNestedTypes());
        for (FieldDescriptor field : message.getFields()) {
            if (field.isMapField() || field.getType() == FieldDescriptor.Type.GROUP) {
                found.remove(field.getMessageType());
            }
        }
        return found;
    }

    /** The JSON for {@link #of}. */
    static String json(Descriptor message) {
        Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
        addFiles(files, message.getFile());
        byte[] set = FileDescriptorSet.newBuilder().addAllFile(files.values()).build().toByteArray();
        String descriptors = Base64.getEncoder().encodeToString(set);
        return "{\"message\": \"" + message.getFullName() + "\", \"descriptors\": \"" + descriptors + "\"}";
    }

    private static void addFiles(Map<String, FileDescriptorProto> files, FileDescriptor file) {
        file.getDependencies().forEach(each -> addFiles(files, each));
        FileDescriptorProto.Builder copy = file.toProto().toBuilder().clearMessageType();
        file.getMessageTypes().forEach(each -> copy.addMessageType(withFullNames(each)));
        files.put(file.getName(), copy.build());
    }

    /** The message with the full names of field types, like protoc's; a text does not have them. */
    private static DescriptorProto withFullNames(Descriptor message) {
        DescriptorProto.Builder copy = message.toProto().toBuilder().clearNestedType();
        message.getNestedTypes().forEach(each -> copy.addNestedType(withFullNames(each)));
        for (FieldDescriptor field : message.getFields()) {
            FieldDescriptorProto.Builder named = copy.getFieldBuilder(field.getIndex()).setType(field.getType().toProto());
            GenericDescriptor type = type(field);
            if (type != null) {
                named.setTypeName("." + type.getFullName());
            }
        }
        return copy.build();
    }

    /** The message or the enumeration of a field; null for a scalar. */
    private static GenericDescriptor type(FieldDescriptor field) {
        switch (field.getJavaType()) {
            case MESSAGE:
                return field.getMessageType();
            case ENUM:
                return field.getEnumType();
            default:
                return null;
        }
    }

    /** The name of a field's type, as in a schema. */
    static String typeName(FieldDescriptor field) {
        GenericDescriptor type = type(field);
        return type == null ? field.getType().name().toLowerCase(Locale.ROOT) : type.getFullName();
    }
}
