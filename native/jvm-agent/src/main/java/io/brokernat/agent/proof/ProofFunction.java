package io.brokernat.agent.proof;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.api.java.UDF1;

/**
 * {@link Proof} as a Spark function: created on the driver, called by tasks on the executors, one JSON row per call.
 *
 * <p>The client's properties are a field, so they are sent inside the task and are never in SQL or in a plan.
 *
 * <pre>
 * executor, host, pid, java
 * agent, loader, global_fingerprint      null without an agent
 * fingerprint, unmapped, problem         of the map of these properties, from the agent
 * kafka_clients                          version and location of each copy on the class path
 * nodes                                  id, advertised, reachable, outcome, and for each outcome:
 *   ok            checked
 *   wrong-node    answered_by
 *   not-provable  checked
 *   failed        message, usually cause (a class)
 *   timed-out     cause, message, tcp (connected, refused, no answer, no route, unknown host)
 * cause, message                         if the whole proof failed
 * millis
 * </pre>
 */
public final class ProofFunction implements UDF1<Object, String> {
    private static final long serialVersionUID = 1L;

    // Spark may send many tasks to one executor. Later ones return this result after a pause, so that others get tasks.
    private static final long FRESH_NANOS = 2_000_000_000L;
    private static final long PAUSE_MS = 200;
    private static final Map<List<Object>, Answer> ANSWERS = new ConcurrentHashMap<>();

    private final HashMap<String, String> properties;
    private final TreeMap<Integer, String> nodes;
    private final TreeMap<Integer, String> partitions;

    /**
     * @param properties of the query's client
     * @param nodes {@code 1=192.168.1.23:9092,2=...}: node id and advertised endpoint
     * @param partitions {@code 1=orders-0,...}: node id and a partition that it leads; may be empty
     */
    public ProofFunction(Map<String, String> properties, String nodes, String partitions) {
        this.properties = new HashMap<>(properties);
        this.nodes = byNode(nodes);
        this.partitions = byNode(partitions);
    }

    @Override
    public String call(Object task) throws InterruptedException {
        List<Object> question = List.of(properties, nodes, partitions);
        ANSWERS.values().removeIf(Answer::isOld);
        Answer mine = new Answer();
        Answer first = ANSWERS.putIfAbsent(question, mine);
        if (first != null) {
            Thread.sleep(PAUSE_MS);
            return first.row.join();
        }
        try {
            mine.give(Proof.prove(properties, nodes, partitions));
        } finally {
            // After a bug of ours, other tasks must not wait forever.
            mine.give("{\"cause\":\"java.lang.Error\",\"message\":\"the proof broke off\"}");
        }
        return mine.row.join();
    }

    private static TreeMap<Integer, String> byNode(String text) {
        TreeMap<Integer, String> byNode = new TreeMap<>();
        for (String entry : text.isEmpty() ? new String[0] : text.split(",")) {
            int equals = entry.indexOf('=');
            byNode.put(Integer.valueOf(entry.substring(0, equals)), entry.substring(equals + 1));
        }
        return byNode;
    }

    /** Without the properties, because Spark prints functions in plans and errors. */
    @Override
    public String toString() {
        return "ProofFunction(nodes " + nodes.keySet() + ")";
    }

    private static final class Answer {
        final CompletableFuture<String> row = new CompletableFuture<>();
        volatile long done;

        void give(String json) {
            done = System.nanoTime();
            row.complete(json);
        }

        boolean isOld() {
            return row.isDone() && System.nanoTime() - done > FRESH_NANOS;
        }
    }
}
