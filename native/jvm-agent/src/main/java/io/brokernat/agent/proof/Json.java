package io.brokernat.agent.proof;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes maps, collections, numbers, booleans, strings and null; any other value as the string of its {@code toString}.
 */
final class Json {
    private Json() {}

    static String write(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream()
                    .map(entry -> quote(String.valueOf(entry.getKey())) + ":" + write(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Collection) {
            return ((Collection<?>) value).stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        }
        return quote(value.toString());
    }

    private static String quote(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
