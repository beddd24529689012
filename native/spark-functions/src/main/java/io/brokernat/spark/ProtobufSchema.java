package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Messages and enumerations by their full names; as JSON it has the form that {@code protobuf_schema.py} describes. */
final class ProtobufSchema {
    private static final JsonFactory JSON = new JsonFactory();

    /** One field. Its label is implicit, optional, required, repeated or map. */
    static final class Field {
        final String name;
        final int number;
        final String label;
        /** A scalar's name, or the full name of a message or an enumeration; of a map, that of its values. */
        final String type;
        /** The type of a map's keys; else null. */
        final String key;
        /** The oneof that it belongs to, or null. */
        final String oneof;

        Field(String name, int number, String label, String type, String key, String oneof) {
            this.name = name;
            this.number = number;
            this.label = label;
            this.type = type;
            this.key = key;
            this.oneof = oneof;
        }
    }

    final Map<String, List<Field>> messages = new LinkedHashMap<>();

    /** Numbers by symbol; the first symbol is the default. */
    final Map<String, Map<String, Integer>> enums = new LinkedHashMap<>();

    /** The messages of the file by their places in it: {@code [1, 0]} is the first message inside of the second. */
    final Map<List<Integer>, String> byIndex = new LinkedHashMap<>();

    /** The messages that are in no other. */
    List<String> outermost() {
        List<String> found = new ArrayList<>();
        byIndex.forEach((index, name) -> {
            if (index.size() == 1) {
                found.add(name);
            }
        });
        return found;
    }

    static ProtobufSchema of(String json) {
        Map<String, Object> content = RegistryAnswer.object(json.getBytes(StandardCharsets.UTF_8));
        ProtobufSchema schema = new ProtobufSchema();
        List<Integer> index = new ArrayList<>();
        for (Object place : (List<?>) content.get("index")) {
            index.add(Integer.valueOf((String) place));
        }
        schema.byIndex.put(index, (String) content.get("message"));
        ((Map<?, ?>) content.get("enums")).forEach((name, symbols) -> {
            Map<String, Integer> numbers = new LinkedHashMap<>();
            ((Map<?, ?>) symbols).forEach((symbol, number) -> numbers.put((String) symbol, Integer.valueOf((String) number)));
            schema.enums.put((String) name, numbers);
        });
        ((Map<?, ?>) content.get("messages")).forEach((name, fields) -> {
            List<Field> found = new ArrayList<>();
            for (Object each : (List<?>) fields) {
                found.add(field((Map<?, ?>) each));
            }
            schema.messages.put((String) name, found);
        });
        return schema;
    }

    private static Field field(Map<?, ?> field) {
        return new Field(
                (String) field.get("name"),
                Integer.parseInt((String) field.get("number")),
                (String) field.get("label"),
                (String) field.get("type"),
                (String) field.get("key"),
                (String) field.get("oneof"));
    }

    /** A message with all types that it needs. */
    String json(String message) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = JSON.createGenerator(text)) {
            out.writeStartObject();
            out.writeStringField("message", message);
            out.writeArrayFieldStart("index");
            for (Map.Entry<List<Integer>, String> each : byIndex.entrySet()) {
                if (each.getValue().equals(message)) {
                    for (int place : each.getKey()) {
                        out.writeNumber(place);
                    }
                }
            }
            out.writeEndArray();
            Map<String, Map<String, Integer>> needed = new LinkedHashMap<>();
            out.writeObjectFieldStart("messages");
            writeMessages(out, message, needed);
            out.writeEndObject();
            out.writeObjectFieldStart("enums");
            for (Map.Entry<String, Map<String, Integer>> each : needed.entrySet()) {
                out.writeObjectFieldStart(each.getKey());
                for (Map.Entry<String, Integer> symbol : each.getValue().entrySet()) {
                    out.writeNumberField(symbol.getKey(), symbol.getValue());
                }
                out.writeEndObject();
            }
            out.writeEndObject();
            out.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return text.toString();
    }

    private void writeMessages(JsonGenerator out, String first, Map<String, Map<String, Integer>> enumsNeeded)
            throws IOException {
        Set<String> known = new HashSet<>();
        Deque<String> wanted = new ArrayDeque<>(List.of(first));
        while (!wanted.isEmpty()) {
            String name = wanted.pop();
            if (enums.containsKey(name)) {
                enumsNeeded.put(name, enums.get(name));
            }
            boolean isWellKnown = WellKnownReader.TYPES.containsKey(name) && !name.equals(first);
            if (!messages.containsKey(name) || isWellKnown || !known.add(name)) {
                continue;
            }
            out.writeArrayFieldStart(name);
            for (Field field : messages.get(name)) {
                wanted.add(field.type);
                out.writeStartObject();
                out.writeStringField("name", field.name);
                out.writeNumberField("number", field.number);
                out.writeStringField("label", field.label);
                out.writeStringField("type", field.type);
                if (field.key != null) {
                    out.writeStringField("key", field.key);
                }
                if (field.oneof != null) {
                    out.writeStringField("oneof", field.oneof);
                }
                out.writeEndObject();
            }
            out.writeEndArray();
        }
    }
}
