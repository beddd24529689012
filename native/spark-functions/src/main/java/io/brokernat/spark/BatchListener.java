package io.brokernat.spark;

import java.util.Map;

/** Is told of the batches that {@link KafkaSink} writes, on the driver; what it throws ends the query. */
public interface BatchListener {
    /** A batch is about to be written: nothing of it has left. */
    void begins();

    /**
     * A batch is written and acknowledged, and not committed yet.
     *
     * @param batch its number; 0 of a write that is not part of a stream.
     * @param rows by {@code tags}, {@code filtered} or the cause of a dead letter; what did not occur is left out. Exact,
     *     however often tasks were tried.
     */
    void written(long batch, Map<String, Long> rows);
}
