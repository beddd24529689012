package io.brokernat.spark;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A write that tells a listener how many rows were tags, were filtered, or were dead letters of each cause.
 *
 * <p>Each task counts what it hands to its writer and sends the counts with its commit message. Spark takes the message
 * of one attempt of each task, so the sum is exact however often tasks were tried.
 */
final class CountedWrite {
    private static final String TAGS = "tags", FILTERED = "filtered";

    private final Columns columns;
    private final BatchListener listener;

    /** @param schema of the rows, with the columns {@code topic} and {@code cause}. */
    CountedWrite(StructType schema, BatchListener listener) {
        columns = new Columns(schema.fieldIndex("topic"), schema.fieldIndex("cause"));
        this.listener = listener;
    }

    BatchWrite of(BatchWrite write) {
        return new Batch(write);
    }

    StreamingWrite of(StreamingWrite write) {
        return new Stream(write);
    }

    private final class Batch implements BatchWrite {
        private final BatchWrite write;

        Batch(BatchWrite write) {
            this.write = write;
        }

        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            listener.begins();
            return new Factory(columns, write.createBatchWriterFactory(info), null);
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
            listener.written(0, sum(messages));
        }

        @Override
        public void abort(WriterCommitMessage[] messages) {
            write.abort(bare(messages));
        }
    }

    private final class Stream implements StreamingWrite {
        private final StreamingWrite write;

        Stream(StreamingWrite write) {
            this.write = write;
        }

        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            listener.begins();
            return new Factory(columns, null, write.createStreamingWriterFactory(info));
        }

        @Override
        public boolean useCommitCoordinator() {
            return write.useCommitCoordinator();
        }

        @Override
        public void commit(long batch, WriterCommitMessage[] messages) {
            write.commit(batch, bare(messages));
            listener.written(batch, sum(messages));
        }

        @Override
        public void abort(long batch, WriterCommitMessage[] messages) {
            write.abort(batch, bare(messages));
        }
    }

    private static Map<String, Long> sum(WriterCommitMessage[] messages) {
        Map<String, Long> sum = new HashMap<>();
        for (WriterCommitMessage message : messages) {
            ((Counted) message).rows.forEach((kind, rows) -> sum.merge(kind, rows, Long::sum));
        }
        return sum;
    }

    /** Spark has a null for each task that has not ended. */
    private static WriterCommitMessage[] bare(WriterCommitMessage[] messages) {
        WriterCommitMessage[] bare = new WriterCommitMessage[messages.length];
        for (int place = 0; place < messages.length; place++) {
            bare[place] = messages[place] == null ? null : ((Counted) messages[place]).message;
        }
        return bare;
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

    private static final class Columns implements java.io.Serializable {
        private static final long serialVersionUID = 1;

        private final int topic;
        private final int cause;

        Columns(int topic, int cause) {
            this.topic = topic;
            this.cause = cause;
        }
    }

    /** Of a batch or of a stream: Spark asks the one with an epoch, and the other without. */
    private static final class Factory implements DataWriterFactory, StreamingDataWriterFactory {
        private static final long serialVersionUID = 1;

        private final Columns columns;
        private final DataWriterFactory batch;
        private final StreamingDataWriterFactory stream;

        Factory(Columns columns, DataWriterFactory batch, StreamingDataWriterFactory stream) {
            this.columns = columns;
            this.batch = batch;
            this.stream = stream;
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task) {
            return new Writer(columns, batch.createWriter(partition, task));
        }

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long epoch) {
            return new Writer(columns, stream.createWriter(partition, task, epoch));
        }
    }

    private static final class Writer implements DataWriter<InternalRow> {
        private final Columns columns;
        private final DataWriter<InternalRow> writer;
        private final Map<UTF8String, Long> deadLetters = new HashMap<>();
        private long tags;
        private long filtered;

        Writer(Columns columns, DataWriter<InternalRow> writer) {
            this.columns = columns;
            this.writer = writer;
        }

        @Override
        public void write(InternalRow row) throws IOException {
            if (row.isNullAt(columns.topic)) {
                filtered++;
                return;
            }
            if (row.isNullAt(columns.cause)) {
                tags++;
            } else {
                // Spark uses the memory of a row again.
                deadLetters.merge(row.getUTF8String(columns.cause).copy(), 1L, Long::sum);
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
