package io.brokernat.agent;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

/**
 * Loads the agent by the client property {@code metric.reporters}: Kafka creates its reporters before its network
 * client, so the agent also affects the first client of a JVM. Reports no metric. Its methods exist in all clients from
 * 2.4 on.
 */
public final class ReporterLoader implements MetricsReporter {
    /** @throws IllegalStateException if the agent cannot be loaded, so that no client ignores its map */
    public ReporterLoader() {
        SelfAttach.ensureRunning();
    }

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
