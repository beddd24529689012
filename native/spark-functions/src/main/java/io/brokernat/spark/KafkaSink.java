package io.brokernat.spark;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.kafka010.KafkaWrite;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A Kafka sink for batches and streams that reports its writes to a {@link BatchListener}.
 *
 * <p>Options and producers are those of Spark's own sink. Rows are counted when they are sent to the producer, because
 * an {@code Observation} would copy every row once more. A row without a topic is counted and not written.
 */
public final class KafkaSink implements TableProvider {
    private static final String SPARKS_OWN = "org.apache.spark.sql.kafka010.KafkaSourceProvider";
    private static final String LISTENER = "brokernat.listener";
    private static final Map<String, BatchListener> LISTENERS = new ConcurrentHashMap<>();

    private final TableProvider kafka;

    /** @throws ReflectiveOperationException if Spark has no Kafka connector */
    public KafkaSink() throws ReflectiveOperationException {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? KafkaSink.class.getClassLoader() : context;
        kafka = (TableProvider) Class.forName(SPARKS_OWN, true, loader).getDeclaredConstructor().newInstance();
    }

    /** Registers the listener of writes whose option {@code brokernat.listener} is {@code id}. */
    public static void listen(String id, BatchListener listener) {
        LISTENERS.put(id, listener);
    }

    /** Removes the listener of {@link #listen}. */
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
        @SuppressWarnings("deprecation") // Spark 3.5 has no other method
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
            Map<String, Object> settings = ((KafkaWrite) table.newWriteBuilder(info).build()).producerParams();
            BatchListener listener = LISTENERS.get(info.options().get(LISTENER));
            Write write = new CountedWrite(info.schema(), settings, listener);
            return new WriteBuilder() {
                @Override
                public Write build() {
                    return write;
                }
            };
        }
    }
}
