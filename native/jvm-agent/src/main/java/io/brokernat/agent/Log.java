package io.brokernat.agent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * One line for each distinct event, through the host's slf4j where the class loader of the Kafka class has one, else on stderr.
 * A guest in someone's process: no framework of its own, and never a word twice.
 */
final class Log {
    private static final String NAME = "io.brokernat.agent";
    // A wildcard or a network can make very many distinct translations; the first thousands are enough.
    private static final int MAX_LINES = 4096;

    private final Set<Object> seen = ConcurrentHashMap.newKeySet();

    /** @param event equal for events of which only the first is logged; the line is not even built for the others */
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
            // By the interface: the logger's own class need not be public.
            Class.forName("org.slf4j.Logger", true, loader).getMethod(level, String.class).invoke(logger, line);
            return true;
        } catch (ReflectiveOperationException | LinkageError e) {
            return false;
        }
    }
}
