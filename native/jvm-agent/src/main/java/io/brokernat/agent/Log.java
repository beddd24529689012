package io.brokernat.agent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One line for each distinct event, through the host's slf4j where the class loader of the Kafka class has one, else on stderr.
 * A guest in someone's process: no framework of its own, and never a word twice.
 */
final class Log {
    private static final String NAME = "io.brokernat.agent";
    // A wildcard or a network can make very many distinct translations; the first thousands tell the story.
    private static final int MAX_LINES = 4096;

    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    void infoOnce(Object kafkaObject, String distinct, String line) {
        once("info", kafkaObject, distinct, line);
    }

    void warnOnce(Object kafkaObject, String distinct, String line) {
        once("warn", kafkaObject, distinct, line);
    }

    private void once(String level, Object kafkaObject, String distinct, String line) {
        if (seen.size() < MAX_LINES && seen.add(level + distinct) && !throughSlf4j(level, kafkaObject, line)) {
            stderr(line);
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
