package io.brokernat.agent.proof;

import io.brokernat.agent.Agent;
import io.brokernat.agent.SelfAttach;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Proves before a query that this JVM has the map and reaches the right brokers.
 *
 * <p>The JSON contains all results, good and bad, and no value of a secret property; no exception is thrown.
 */
public final class Proof {
    private static final String LOADER = "io.brokernat.agent.ReporterLoader";

    private Proof() {}

    /**
     * Lists the nodes of a cluster; called on the driver.
     *
     * @param properties of the query's client
     * @param topics separated by commas, or empty
     * @return {@code agent}, {@code loader}, {@code global_fingerprint}, {@code cluster_id}, {@code nodes} of
     *     {@code id} and {@code endpoint} (advertised), {@code partitions} (node id to one {@code topic-partition} that
     *     it leads); after an error {@code cause}, {@code message} and {@code bootstrap} (endpoint to the result of a
     *     TCP connection)
     */
    public static String discover(Map<String, String> properties, String topics) {
        Redaction redaction = new Redaction(properties);
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            loadAgent(properties);
            found.putAll(JvmFacts.agent());
            found.putAll(KafkaLoader.queries().apply(Map.of("properties", properties, "topics", split(topics))));
        } catch (Exception | LinkageError e) {
            putCause(found, e);
        }
        if (found.containsKey("cause")) {
            Map<String, String> bootstrap = new LinkedHashMap<>();
            split(properties.getOrDefault("bootstrap.servers", "")).forEach(server -> bootstrap.put(server, tcp(properties, server)));
            found.put("bootstrap", bootstrap);
        }
        redaction.cleanWords(found);
        return Json.write(found);
    }

    /**
     * @param nodes node id to advertised endpoint
     * @param partitions node id to one {@code topic-partition} that it leads, if ACLs do not allow DescribeConfigs
     * @return see {@link ProofFunction}
     */
    static String prove(Map<String, String> properties, Map<Integer, String> nodes, Map<Integer, String> partitions) {
        long start = System.nanoTime();
        Redaction redaction = new Redaction(properties);
        Map<String, Object> row = new LinkedHashMap<>();
        try {
            row.putAll(JvmFacts.describe());
            loadAgent(properties);
            row.putAll(JvmFacts.agent());
            List<Map<String, Object>> results = nodes(row, properties, nodes, partitions);
            results.forEach(redaction::cleanWords);
            row.put("nodes", results);
        } catch (Exception | LinkageError e) {
            putCause(row, e);
        }
        row.put("millis", (System.nanoTime() - start) / 1_000_000);
        redaction.cleanWords(row);
        return Json.write(row);
    }

    private static List<Map<String, Object>> nodes(
            Map<String, Object> row, Map<String, String> properties, Map<Integer, String> nodes, Map<Integer, String> partitions)
            throws ReflectiveOperationException, IOException {
        Map<?, ?> reachable = Map.of();
        if (row.get("agent") != null) {
            Map<?, ?> inspection = JvmFacts.inspect(properties, new ArrayList<>(nodes.values()));
            row.put("fingerprint", inspection.get("fingerprint"));
            row.put("unmapped", inspection.get("unmapped"));
            row.put("problem", inspection.get("problem"));
            reachable = (Map<?, ?>) inspection.get("reachable");
        }
        boolean ignored = row.get("agent") == null && !properties.getOrDefault("brokernat.map", "").isBlank();
        Map<Integer, Map<String, Object>> results = new LinkedHashMap<>();
        List<Integer> asked = new ArrayList<>();
        for (Map.Entry<Integer, String> node : nodes.entrySet()) {
            Object dialled = ignored ? null : reachable.isEmpty() ? node.getValue() : reachable.get(node.getValue());
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("id", node.getKey());
            result.put("advertised", node.getValue());
            result.put("reachable", "".equals(dialled) ? null : dialled);
            results.put(node.getKey(), result);
            if (ignored) {
                result.put("outcome", "failed");
                result.put("message", "no agent runs in this JVM, so nothing applies brokernat.map");
            } else if ("".equals(dialled)) {
                result.put("outcome", "failed");
                result.put("message", "the address map refuses " + node.getValue() + ": " + refusal(row, node.getValue()));
            } else {
                asked.add(node.getKey());
            }
        }
        ask(properties, partitions, asked, results);
        return new ArrayList<>(results.values());
    }

    /**
     * Sends the requests at most twice: a JVM that loads Kafka's classes for the first time on a busy machine may
     * exceed the short timeouts. So a node that timed out, but whose port connects, is queried again when the classes
     * are loaded.
     */
    private static void ask(
            Map<String, String> properties, Map<Integer, String> partitions, List<Integer> nodes, Map<Integer, Map<String, Object>> results)
            throws ReflectiveOperationException, IOException {
        List<Integer> asked = nodes;
        for (int attempt = 1; attempt <= 2 && !asked.isEmpty(); attempt++) {
            Map<String, Object> answers =
                    KafkaLoader.queries().apply(Map.of("properties", properties, "nodes", asked, "partitions", partitions));
            List<Integer> again = new ArrayList<>();
            for (int id : asked) {
                Map<String, Object> result = results.get(id);
                result.keySet().retainAll(List.of("id", "advertised", "reachable"));
                ((Map<?, ?>) answers.get(Integer.toString(id))).forEach((key, value) -> result.put((String) key, value));
                if ("timed-out".equals(result.get("outcome"))) {
                    String tcp = TcpProbe.probe((String) result.get("reachable"));
                    result.put("tcp", tcp);
                    if (tcp.equals("connected")) {
                        again.add(id);
                    }
                }
            }
            asked = again;
        }
    }

    private static String refusal(Map<String, Object> row, String endpoint) {
        String problem = (String) row.get("problem");
        return problem.isEmpty() ? "add \"" + endpoint + " = REACHABLE:PORT\" or set brokernat.unmapped=pass" : problem;
    }

    /** Loads the agent as the query's clients do, because the proof's own client may be the first one of this JVM. */
    private static void loadAgent(Map<String, String> properties) {
        if (split(properties.getOrDefault("metric.reporters", "")).contains(LOADER)) {
            SelfAttach.ensureRunning();
        }
    }

    private static String tcp(Map<String, String> properties, String server) {
        if (System.getProperty(Agent.VERSION) == null) {
            return TcpProbe.probe(server);
        }
        Object reachable = ((Map<?, ?>) JvmFacts.inspect(properties, List.of(server)).get("reachable")).get(server);
        return "".equals(reachable) ? "refused by the address map" : TcpProbe.probe((String) reachable);
    }

    private static void putCause(Map<String, Object> facts, Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        facts.put("cause", e.getClass().getName());
        facts.put("message", e == cause ? String.valueOf(e.getMessage()) : e.getMessage() + ": " + cause.getMessage());
    }

    private static List<String> split(String list) {
        List<String> parts = new ArrayList<>();
        for (String part : list.split(",")) {
            if (!part.isBlank()) {
                parts.add(part.trim());
            }
        }
        return parts;
    }
}
