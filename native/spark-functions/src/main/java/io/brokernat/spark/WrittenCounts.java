package io.brokernat.spark;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * How many rows of a write were tags, were filtered, or were dead letters of each cause.
 *
 * <p>Each task counts what it hands to its writer and sends the counts with its commit message. Spark takes the message
 * of one attempt of each task, so the sum is exact however often tasks were tried.
 */
public final class WrittenCounts {
    static final String OPTION = "brokernat.counts";

    private static final String TAGS = "tags", FILTERED = "filtered";
    private static final Map<String, Map<String, Long>> FINISHED = new ConcurrentHashMap<>();

    private final int topic;
    private final int cause;
    private final String id;

    /**
     * @param schema of the rows, with the columns {@code topic} and {@code cause}.
     * @param id under which {@link #take} finds the counts; null when nobody asks.
     */
    WrittenCounts(StructType schema, String id) {
        topic = schema.fieldIndex("topic");
        cause = schema.fieldIndex("cause");
        this.id = id;
    }

    /**
     * The counts of a write that has been committed, once.
     *
     * @param id the option {@code brokernat.counts} of the write.
     * @return rows by {@code tags}, {@code filtered} or the cause of a dead letter; what did not occur is left out. Null
     *     when no such write has been committed.
     */
    public static Map<String, Long> take(String id) {
        return FINISHED.remove(id);
    }

    /** A write that counts its rows on their way. */
    BatchWrite of(BatchWrite write) {
        return new CountedWrite(write);
    }

    private void finish(WriterCommitMessage[] messages) {
        if (id != null) {
            Map<String, Long> sum = new HashMap<>();
            for (WriterCommitMessage message : messages) {
                ((Counted) message).rows.forEach((kind, rows) -> sum.merge(kind, rows, Long::sum));
            }
            FINISHED.put(id, sum);
        }
    }

    /** What a task says when it has ended: its own message, and its rows by what they were. */
    private static final class Counted implements WriterCommitMessage {
        private static final long serialVersionUID = 1;

        private final WriterCommitMessage message;
        private final HashMap<String, Long> rows;

        Counted(WriterCommitMessage message, HashMap<String, Long> rows) {
            this.message = message;
            this.rows = rows;
        }
    }

    private final class CountedWrite implements BatchWrite {
        private final BatchWrite write;

        CountedWrite(BatchWrite write) {
            this.write = write;
        }

        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            return new CountingFactory(write.createBatchWriterFactory(info), topic, cause);
        }

        @Override
        public boolean useCommitCoordinator() {
            return write.useCommitCoordinator();
        }

        @Override
        public void onDataWriterCommit(WriterCommitMessage message) {
            write.onDataWriterCommit(((Counted) message).message);
        }

        @Override
        public void commit(WriterCommitMessage[] messages) {
            write.commit(bare(messages));
            finish(messages);
        }

        @Override
        public void abort(WriterCommitMessage[] messages) {
            write.abort(bare(messages));
        }

        /** Spark has a null for each task that has not ended. */
        private WriterCommitMessage[] bare(WriterCommitMessage[] messages) {
            WriterCommitMessage[] bare = new WriterCommitMessage[messages.length];
            for (int place = 0; place < messages.length; place++) {
                bare[place] = messages[place] == null ? null : ((Counted) messages[place]).message;
            }
            return bare;
        }
    }

    private static final class CountingFactory implements DataWriterFactory {
        private static final long serialVersionUID = 1;

        private final DataWriterFactory factory;
        private final int topic;
        private final int cause;

        CountingFactory(DataWriterFactory factory, int topic, int cause) {
            this.factory = factory;
            this.topic = topic;
            this.cause = cause;
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task) {
            return new CountingWriter(factory.createWriter(partition, task), topic, cause);
        }
    }

    private static final class CountingWriter implements DataWriter<InternalRow> {
        private final DataWriter<InternalRow> writer;
        private final int topic;
        private final int cause;
        private final Map<UTF8String, Long> deadLetters = new HashMap<>();
        private long tags;
        private long filtered;

        CountingWriter(DataWriter<InternalRow> writer, int topic, int cause) {
            this.writer = writer;
            this.topic = topic;
            this.cause = cause;
        }

        @Override
        public void write(InternalRow row) throws IOException {
            if (row.isNullAt(topic)) {
                filtered++;
                return;
            }
            if (row.isNullAt(cause)) {
                tags++;
            } else {
                // Spark uses the memory of a row again.
                deadLetters.merge(row.getUTF8String(cause).copy(), 1L, Long::sum);
            }
            writer.write(row);
        }

        @Override
        public WriterCommitMessage commit() throws IOException {
            WriterCommitMessage message = writer.commit();
            HashMap<String, Long> rows = new HashMap<>();
            deadLetters.forEach((kind, count) -> rows.put(kind.toString(), count));
            if (tags > 0) {
                rows.put(TAGS, tags);
            }
            if (filtered > 0) {
                rows.put(FILTERED, filtered);
            }
            return new Counted(message, rows);
        }

        @Override
        public void abort() throws IOException {
            writer.abort();
        }

        @Override
        public void close() throws IOException {
            writer.close();
        }

        @Override
        public CustomTaskMetric[] currentMetricsValues() {
            return writer.currentMetricsValues();
        }
    }
}
