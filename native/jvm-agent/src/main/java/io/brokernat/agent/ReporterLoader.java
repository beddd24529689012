package io.brokernat.agent;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

/**
 * Loads the agent by one client property, {@code metric.reporters}: Kafka makes its reporters before anything that dials, so even
 * the first client of a JVM is covered. Reports no metric. The methods are those that all clients from 2.4 on have.
 */
public final class ReporterLoader implements MetricsReporter {
    /** @throws IllegalStateException where the agent cannot be loaded: better no client than one that ignores its map */
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
