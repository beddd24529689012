package io.brokernat.agent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Logs one line for each distinct event, through the application's slf4j if the class loader of the Kafka class has
 * one, else on stderr. It needs no logging framework and logs no event twice.
 */
final class Log {
    private static final String NAME = "io.brokernat.agent";
    // A wildcard or a network can have very many distinct translations, so their number is bounded.
    private static final int MAX_LINES = 4096;

    private final Set<Object> seen = ConcurrentHashMap.newKeySet();

    /** @param event equal for events of which only the first is logged; the line is not built for the others */
    void infoOnce(Object kafkaObject, Object event, Supplier<String> line) {
        once("info", kafkaObject, event, line);
    }

    void warnOnce(Object kafkaObject, Object event, Supplier<String> line) {
        once("warn", kafkaObject, event, line);
    }

    private void once(String level, Object kafkaObject, Object event, Supplier<String> line) {
        if (seen.size() < MAX_LINES && seen.add(event)) {
            String text = line.get();
            if (!throughSlf4j(level, kafkaObject, text)) {
                stderr(text);
            }
        }
    }

    static void stderr(String line) {
        System.err.println("[brokernat] " + line);
    }

    private static boolean throughSlf4j(String level, Object kafkaObject, String line) {
        try {
            ClassLoader loader = kafkaObject.getClass().getClassLoader();
            Object logger = Class.forName("org.slf4j.LoggerFactory", true, loader).getMethod("getLogger", String.class).invoke(null, NAME);
            // By the interface, because the logger's class may not be public.
            Class.forName("org.slf4j.Logger", true, loader).getMethod(level, String.class).invoke(logger, line);
            return true;
        } catch (ReflectiveOperationException | LinkageError e) {
            return false;
        }
    }
}
