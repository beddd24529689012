package io.brokernat.spark;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own Kafka sink, for batches and streams, that tells a {@link BatchListener} what it writes.
 *
 * <p>Rows are counted where they leave for the producer, because an {@code Observation} of them would copy every row once
 * more. A row without a topic is counted and not written. The text of Spark's {@code KafkaWrite} holds every option, and
 * with them the password, in Spark's pages and event logs; here it is silent.
 */
public final class KafkaSink implements TableProvider {
    private static final String SPARKS_OWN = "org.apache.spark.sql.kafka010.KafkaSourceProvider";
    private static final String LISTENER = "brokernat.listener";
    private static final Map<String, BatchListener> LISTENERS = new ConcurrentHashMap<>();

    private final TableProvider kafka;

    /** @throws ReflectiveOperationException where Spark has no Kafka connector */
    public KafkaSink() throws ReflectiveOperationException {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? KafkaSink.class.getClassLoader() : context;
        kafka = (TableProvider) Class.forName(SPARKS_OWN, true, loader).getDeclaredConstructor().newInstance();
    }

    /** Lets {@code listener} hear of the writes whose option {@code brokernat.listener} is {@code id}. */
    public static void listen(String id, BatchListener listener) {
        LISTENERS.put(id, listener);
    }

    /** Ends what {@link #listen} began. */
    public static void forget(String id) {
        LISTENERS.remove(id);
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
            return Set.of(
                    TableCapability.BATCH_WRITE, TableCapability.STREAMING_WRITE, TableCapability.ACCEPT_ANY_SCHEMA);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            Write write = table.newWriteBuilder(info).build();
            BatchListener listener = LISTENERS.get(info.options().get(LISTENER));
            CountedWrite counted = new CountedWrite(info.schema(), listener);
            return new WriteBuilder() {
                @Override
                public Write build() {
                    return new SilentWrite(write, counted);
                }
            };
        }
    }

    private static final class SilentWrite implements Write {
        private final Write write;
        private final CountedWrite counted;

        SilentWrite(Write write, CountedWrite counted) {
            this.write = write;
            this.counted = counted;
        }

        @Override
        public String description() {
            return write.description();
        }

        @Override
        public BatchWrite toBatch() {
            return counted.of(write.toBatch());
        }

        @Override
        public StreamingWrite toStreaming() {
            return counted.of(write.toStreaming());
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
