package io.brokernat.spark;

import java.util.Map;

/** Callbacks of {@link KafkaSink}, on the driver; an exception ends the query. */
public interface BatchListener {
    /** Called before the first write of a batch. */
    void begins();

    /**
     * Called after all records of a batch are acknowledged, before the batch is committed.
     *
     * @param batch its number; 0 for a write that is not part of a stream.
     * @param rows the number of {@code tags}, {@code filtered} and dead letters of each cause, without zeros. Exact,
     *     also with retried tasks.
     */
    void written(long batch, Map<String, Long> rows);
}
