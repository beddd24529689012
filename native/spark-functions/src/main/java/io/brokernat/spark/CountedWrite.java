package io.brokernat.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;

/**
 * A write that reports to a listener how many rows were tags, were filtered, or were dead letters of each cause.
 *
 * <p>Each task sends its counts with its commit message. Spark uses the message of one attempt of each task, so the sum
 * is exact, also with retried tasks.
 */
final class CountedWrite implements Write, BatchWrite, StreamingWrite {
    private final Factory factory;
    private final BatchListener listener;

    /**
     * @param schema of the rows, see {@link RecordWriter.Columns}.
     * @param settings of the producers.
     */
    CountedWrite(StructType schema, Map<String, Object> settings, BatchListener listener) {
        factory = new Factory(new RecordWriter.Columns(schema), new HashMap<>(settings));
        this.listener = listener;
    }

    /** The text in plans. That of Spark's own write contains every option, including the password. */
    @Override
    public String toString() {
        return description();
    }

    @Override
    public String description() {
        return "Kafka";
    }

    @Override
    public BatchWrite toBatch() {
        return this;
    }

    @Override
    public StreamingWrite toStreaming() {
        return this;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        listener.begins();
        return factory;
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        listener.begins();
        return factory;
    }

    @Override
    public boolean useCommitCoordinator() {
        return false;
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        commit(0, messages);
    }

    @Override
    public void commit(long batch, WriterCommitMessage[] messages) {
        listener.written(batch, sum(messages));
    }

    /** Sent records are not removed: the batch runs again. */
    @Override
    public void abort(WriterCommitMessage[] messages) {}

    @Override
    public void abort(long batch, WriterCommitMessage[] messages) {}

    private static Map<String, Long> sum(WriterCommitMessage[] messages) {
        Map<String, Long> sum = new HashMap<>();
        for (WriterCommitMessage message : messages) {
            ((RecordWriter.Counted) message).rows.forEach((kind, rows) -> sum.merge(kind, rows, Long::sum));
        }
        return sum;
    }

    /** For batches and for streams: Spark calls the method with an epoch only for a stream. */
    private static final class Factory implements DataWriterFactory, StreamingDataWriterFactory {
        private static final long serialVersionUID = 1;

        private final RecordWriter.Columns columns;
        private final HashMap<String, Object> settings;

        Factory(RecordWriter.Columns columns, HashMap<String, Object> settings) {
            this.columns = columns;
            this.settings = settings;
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task) {
            return new RecordWriter(columns, settings);
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
            return new RecordWriter(columns, settings);
        }
    }
}
