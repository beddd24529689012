package io.brokernat.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own Kafka sink for batches, written to as a V2 source that counts, and silent about its options.
 *
 * <p>As a V1 source, which it is by default, the sink runs a query of its own and no {@code Observation} completes. As a
 * V2 source its plan names Spark's {@code KafkaWrite}, whose text holds every option, and with them the password, in
 * Spark's pages and event logs.
 *
 * <p>What was written is told by {@link WrittenCounts}: rows are counted where they leave for the producer, because an
 * {@code Observation} of them would copy every row once more. A row without a topic is counted and not written.
 */
public final class KafkaSink implements TableProvider {
    private static final String SPARKS_OWN = "org.apache.spark.sql.kafka010.KafkaSourceProvider";

    private final TableProvider kafka;

    /** @throws ReflectiveOperationException where Spark has no Kafka connector */
    public KafkaSink() throws ReflectiveOperationException {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? KafkaSink.class.getClassLoader() : context;
        kafka = (TableProvider) Class.forName(SPARKS_OWN, true, loader).getDeclaredConstructor().newInstance();
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return kafka.inferSchema(options);
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Topic((SupportsWrite) kafka.getTable(schema, partitioning, properties));
    }

    private static final class Topic implements SupportsWrite {
        private final SupportsWrite table;

        Topic(SupportsWrite table) {
            this.table = table;
        }

        @Override
        public String name() {
            return table.name();
        }

        @Override
        @SuppressWarnings("deprecation") // Spark 3.5 has no other
        public StructType schema() {
            return table.schema();
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.BATCH_WRITE, TableCapability.ACCEPT_ANY_SCHEMA);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            Write write = table.newWriteBuilder(info).build();
            WrittenCounts counts = new WrittenCounts(info.schema(), info.options().get(WrittenCounts.OPTION));
            return new WriteBuilder() {
                @Override
                public Write build() {
                    return new SilentWrite(write, counts);
                }
            };
        }
    }

    private static final class SilentWrite implements Write {
        private final Write write;
        private final WrittenCounts counts;

        SilentWrite(Write write, WrittenCounts counts) {
            this.write = write;
            this.counts = counts;
        }

        @Override
        public String description() {
            return write.description();
        }

        @Override
        public BatchWrite toBatch() {
            return counts.of(write.toBatch());
        }

        @Override
        public CustomMetric[] supportedCustomMetrics() {
            return write.supportedCustomMetrics();
        }

        @Override
        public String toString() {
            return "Kafka";
        }
    }
}
