package io.brokernat.agent;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Removes our own loader from a client's {@code metric.reporters} when the agent runs. It is not needed then, and it
 * would fail if the agent's jar is on the system class path and Kafka is not: a parent-first class loader finds the
 * loader class on the system class path, where Kafka's interface is missing.
 */
final class LoaderProperty {
    private static final String REPORTERS = "metric.reporters";
    private static final String LOADER = "io.brokernat.agent.ReporterLoader";

    private LoaderProperty() {}

    /** @param values the parsed values of a config, before their first use */
    @SuppressWarnings("unchecked")
    static void removeFrom(Map<?, ?> values) {
        Object reporters = values.get(REPORTERS);
        Collection<?> all = reporters instanceof String ? Arrays.asList(((String) reporters).split(",")) : List.of();
        if (reporters instanceof Collection) {
            all = (Collection<?>) reporters;
        }
        List<?> others = all.stream().filter(reporter -> !isLoader(reporter)).collect(Collectors.toList());
        if (others.size() < all.size()) {
            ((Map<String, Object>) values).put(REPORTERS, reporters instanceof String ? join(others) : others);
        }
    }

    private static boolean isLoader(Object reporter) {
        String name = reporter instanceof Class ? ((Class<?>) reporter).getName() : String.valueOf(reporter).trim();
        return name.equals(LOADER);
    }

    private static String join(List<?> reporters) {
        return reporters.stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
