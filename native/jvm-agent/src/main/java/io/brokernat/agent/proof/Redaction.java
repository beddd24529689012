package io.brokernat.agent.proof;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes the secrets of a client's properties from the messages of Kafka's exceptions. */
final class Redaction {
    private static final Pattern SECRET_KEY = Pattern.compile("password|secret|jaas|token|credential|private|\\.key$");
    private static final List<String> WORDS = List.of("message", "checked");
    private static final Pattern QUOTED =
            Pattern.compile("(\\busername\\s*=\\s*)?(?:\"((?:[^\"\\\\]|\\\\.)+)\"|'([^']+)')");

    private final List<String> secrets = new ArrayList<>();

    Redaction(Map<String, String> properties) {
        properties.forEach((key, value) -> {
            if (value != null && !value.isEmpty() && SECRET_KEY.matcher(key.toLowerCase(Locale.ROOT)).find()) {
                secrets.add(value);
                addQuoted(value);
            }
        });
        // A secret may be part of another one: replace the longest first.
        secrets.sort(Comparator.comparingInt(String::length).reversed());
    }

    /** The options of a JAAS entry are in quotes. A user name is no secret, and may be a part of any word. */
    private void addQuoted(String value) {
        for (Matcher matcher = QUOTED.matcher(value); matcher.find(); ) {
            if (matcher.group(1) == null) {
                secrets.add(matcher.group(2) == null ? matcher.group(3) : matcher.group(2));
            }
        }
    }

    /** Cleans the texts from Kafka; the other facts are ours. */
    void cleanWords(Map<String, Object> facts) {
        for (String key : WORDS) {
            facts.computeIfPresent(key, (unused, text) -> clean(text.toString()));
        }
    }

    String clean(String text) {
        String clean = text;
        for (String secret : secrets) {
            clean = clean.replace(secret, "[hidden]");
        }
        return clean;
    }
}
