package io.brokernat.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.kafka010.producer.CachedKafkaProducer;
import org.apache.spark.sql.kafka010.producer.InternalKafkaProducerPool$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The writer of a task: sends rows from Spark's memory to the producer, with the coordinates of their source in headers,
 * and counts them.
 *
 * <p>The producers are those that Spark's Kafka sink keeps for its tasks. Spark's own writer ({@code KafkaRowWriter})
 * copies each row twice more, because it accepts columns in any order and of any type.
 */
final class RecordWriter implements DataWriter<InternalRow> {
    /** The header with the coordinates; the names of all our headers begin with it. */
    static final String SOURCE = "brokernat-src";

    private static final String SOURCE_TIMESTAMP = SOURCE + "-timestamp";
    private static final String TAGS = "tags", FILTERED = "filtered";
    private static final int MOST_TEXTS = 100;

    private final Columns columns;
    private final CachedKafkaProducer cached;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Map<UTF8String, String> texts = new HashMap<>();
    private final Map<String, Long> deadLetters = new HashMap<>();
    private final Callback onAnswer = (metadata, error) -> {
        if (error != null) {
            fail(error);
        }
    };
    private long tags;
    private long filtered;
    private volatile Exception failure;

    /** @param settings of the producer. */
    RecordWriter(Columns columns, Map<String, Object> settings) {
        this.columns = columns;
        cached = InternalKafkaProducerPool$.MODULE$.acquire(settings);
        producer = cached.producer();
    }

    /** The column indexes of a row; {@code cause} is null in a tag. */
    static final class Columns implements Serializable {
        private static final long serialVersionUID = 1;

        private final int topic;
        private final int key;
        private final int value;
        private final int headers;
        private final int source;
        private final int timestamp;
        private final int cause;

        Columns(StructType schema) {
            topic = schema.fieldIndex("topic");
            key = schema.fieldIndex("key");
            value = schema.fieldIndex("value");
            headers = schema.fieldIndex("headers");
            source = schema.fieldIndex("source");
            timestamp = schema.fieldIndex("source_timestamp");
            cause = schema.fieldIndex("cause");
        }
    }

    /** The commit message of a task: the number of its rows by kind. */
    static final class Counted implements WriterCommitMessage {
        private static final long serialVersionUID = 1;

        final HashMap<String, Long> rows;

        private Counted(HashMap<String, Long> rows) {
            this.rows = rows;
        }
    }

    @Override
    public void write(InternalRow row) throws IOException {
        if (row.isNullAt(columns.topic)) {
            filtered++;
            return;
        }
        throwFailure();
        if (row.isNullAt(columns.cause)) {
            tags++;
        } else {
            deadLetters.merge(text(row.getUTF8String(columns.cause)), 1L, Long::sum);
        }
        byte[] key = row.isNullAt(columns.key) ? null : row.getBinary(columns.key);
        byte[] value = row.isNullAt(columns.value) ? null : row.getBinary(columns.value);
        String topic = text(row.getUTF8String(columns.topic));
        producer.send(new ProducerRecord<>(topic, null, key, value, headers(row)), onAnswer);
    }

    private List<Header> headers(InternalRow row) {
        ArrayData given = row.getArray(columns.headers);
        List<Header> headers = new ArrayList<>(given.numElements() + 2);
        for (int place = 0; place < given.numElements(); place++) {
            InternalRow header = given.getStruct(place, 2);
            headers.add(new RecordHeader(text(header.getUTF8String(0)), header.isNullAt(1) ? null : header.getBinary(1)));
        }
        byte[] timestamp = row.isNullAt(columns.timestamp) ? null : ascii(row.getLong(columns.timestamp));
        headers.add(new RecordHeader(SOURCE, row.getBinary(columns.source)));
        headers.add(new RecordHeader(SOURCE_TIMESTAMP, timestamp));
        return headers;
    }

    private static byte[] ascii(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    /** Caches strings: topics, causes and names of headers are few. */
    private String text(UTF8String text) {
        String known = texts.get(text);
        if (known == null) {
            known = text.toString();
            if (texts.size() < MOST_TEXTS) {
                // Spark reuses the memory of a row.
                texts.put(text.copy(), known);
            }
        }
        return known;
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        producer.flush();
        throwFailure();
        HashMap<String, Long> rows = new HashMap<>(deadLetters);
        if (tags > 0) {
            rows.put(TAGS, tags);
        }
        if (filtered > 0) {
            rows.put(FILTERED, filtered);
        }
        return new Counted(rows);
    }

    /** Sent records are not removed: the batch runs again. */
    @Override
    public void abort() {}

    @Override
    public void close() {
        InternalKafkaProducerPool$.MODULE$.release(cached);
    }

    private void fail(Exception error) {
        if (failure == null) {
            failure = error;
        }
    }

    private void throwFailure() throws IOException {
        if (failure instanceof RuntimeException) {
            // Keeps Kafka's exception class, which shows whether a retry may help.
            throw (RuntimeException) failure;
        }
        if (failure != null) {
            throw new IOException(failure);
        }
    }
}
