package io.brokernat.spark;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Creates a row's record for the sink: its tag, its dead letter, or none.
 *
 * <p>One call returns topic, key, value and headers of both. Expressions would be some 9,000 bytes of generated code in
 * one method, and a JVM never compiles a method of more than 8,000 (HotSpot's HugeMethodLimit).
 *
 * <p>The source record's headers are kept, except those with our own names, which another pipeline or an earlier run
 * may have written: {@link RecordWriter} adds ours. The headers of a dead letter are those of Kafka Connect
 * (DeadLetterQueueReporter, KIP-298), so tools that read Connect's dead letters can read ours; key and value are the
 * bytes of the source record. Connect's stack trace is not written, because there is no exception.
 */
public final class RecordFunction implements UnboundFunction, ScalarFunction<InternalRow> {
    private static final long serialVersionUID = 1;

    private static final UTF8String OWN = UTF8String.fromString(RecordWriter.SOURCE);
    private static final UTF8String CONNECT = UTF8String.fromString("__connect.errors.");
    private static final int CLUSTER = 0, TOPIC = 1, PARTITION = 2, OFFSET = 3, TIMESTAMP = 4, KEY = 5, HEADERS = 6;
    private static final int TAG = 2;
    private static final int KIND = 0, MESSAGE = 1;

    private static final Map<String, String> STAGES =
            Map.of("NullKey", "TRANSFORMATION", "MissingReference", "TRANSFORMATION");
    private static final Map<String, String> MODULES = Map.of(
            "VALUE_CONVERTER", "brokernat.pipelines.decode", "TRANSFORMATION", "brokernat.pipelines.enrich");

    private final UTF8String tags;
    private final UTF8String deadLetters;
    private final byte[] pipeline;
    private final String name;
    private final ZoneId zone;
    private DataType[] inputTypes;
    private transient JsonEncoder encoder;
    private transient SourcePartition lastPartition;

    RecordFunction(String pipeline, String tags, String deadLetters, ZoneId zone) {
        this.zone = zone;
        this.pipeline = bytes(pipeline);
        this.tags = UTF8String.fromString(tags);
        this.deadLetters = UTF8String.fromString(deadLetters);
        name = "brokernat.record(" + String.join(",", pipeline, tags, deadLetters) + ")";
    }

    /**
     * Spark calls a method of this name (ScalarFunction.MAGIC_METHOD_NAME) without a row around the arguments.
     *
     * @param source {@code brokernat_src} of the row.
     * @param key of the tag; may be null.
     * @param tag its columns; null if the row is not a tag.
     * @param fault kind and message; null if the record has no fault.
     * @param value of the source record.
     * @return a row of {@link #resultType}; null for a row without tag and fault.
     */
    public InternalRow invoke(InternalRow source, byte[] key, InternalRow tag, InternalRow fault, byte[] value) {
        return tag == null ? untagged(source, fault, value) : tagged(source, key, encoder().encode(tag));
    }

    /** The same for tags that are already encoded: {@link JsonEncoder} does not support their format or types. */
    public InternalRow invoke(InternalRow source, byte[] key, byte[] tag, InternalRow fault, byte[] value) {
        return tag == null ? untagged(source, fault, value) : tagged(source, key, tag);
    }

    private JsonEncoder encoder() {
        // A task has its own copy, but the driver's is shared: creating a second encoder is harmless.
        JsonEncoder ready = encoder;
        if (ready == null) {
            encoder = ready = new JsonEncoder((StructType) inputTypes[TAG], zone);
        }
        return ready;
    }

    private InternalRow tagged(InternalRow source, byte[] key, byte[] value) {
        return row(source, tags, key, value, kept(source.getArray(HEADERS), false), null);
    }

    private InternalRow untagged(InternalRow source, InternalRow fault, byte[] value) {
        if (fault == null) {
            return null;
        }
        List<Object> headers = kept(source.getArray(HEADERS), true);
        UTF8String kind = fault.getUTF8String(KIND);
        String stage = STAGES.getOrDefault(kind.toString(), "VALUE_CONVERTER");
        connect(headers, "topic", source.getUTF8String(TOPIC).getBytes());
        connect(headers, "partition", bytes(Integer.toString(source.getInt(PARTITION))));
        connect(headers, "offset", bytes(Long.toString(source.getLong(OFFSET))));
        connect(headers, "connector.name", pipeline);
        connect(headers, "task.id", bytes("0"));
        connect(headers, "stage", bytes(stage));
        connect(headers, "class.name", bytes(MODULES.get(stage)));
        connect(headers, "exception.class.name", bytes("brokernat." + kind));
        connect(headers, "exception.message", fault.isNullAt(MESSAGE) ? null : fault.getUTF8String(MESSAGE).getBytes());
        byte[] key = source.isNullAt(KEY) ? null : source.getBinary(KEY);
        return row(source, deadLetters, key, value, headers, kind);
    }

    /** The headers of the source record that are not ours. */
    private static List<Object> kept(ArrayData given, boolean isDeadLetter) {
        List<Object> kept = new ArrayList<>(given.numElements());
        for (int index = 0; index < given.numElements(); index++) {
            InternalRow header = given.getStruct(index, 2);
            UTF8String key = header.getUTF8String(0);
            if (!key.startsWith(OWN) && !(isDeadLetter && key.startsWith(CONNECT))) {
                kept.add(header);
            }
        }
        return kept;
    }

    private static void connect(List<Object> headers, String name, byte[] text) {
        headers.add(header(UTF8String.concat(CONNECT, UTF8String.fromString(name)), text));
    }

    private static InternalRow header(UTF8String key, byte[] value) {
        return new GenericInternalRow(new Object[] {key, value});
    }

    private InternalRow row(
            InternalRow source, UTF8String topic, byte[] key, byte[] value, List<Object> headers, UTF8String cause) {
        Long timestamp = source.isNullAt(TIMESTAMP) ? null : Math.floorDiv(source.getLong(TIMESTAMP), 1000);
        ArrayData array = new GenericArrayData(headers.toArray());
        return new GenericInternalRow(new Object[] {topic, key, value, array, coordinates(source), timestamp, cause});
    }

    private UTF8String coordinates(InternalRow source) {
        UTF8String topic = source.getUTF8String(TOPIC);
        int partition = source.getInt(PARTITION);
        SourcePartition last = lastPartition;
        if (last == null || last.partition != partition || !last.topic.equals(topic)) {
            lastPartition = last = new SourcePartition(source.getUTF8String(CLUSTER), topic, partition);
        }
        return UTF8String.concat(last.prefix, UTF8String.fromString(Long.toString(source.getLong(OFFSET))));
    }

    /** A partition and the part of the coordinates that all its records share; a task reads them one after the other. */
    private static final class SourcePartition {
        final UTF8String topic;
        final int partition;
        final UTF8String prefix;

        SourcePartition(UTF8String cluster, UTF8String topic, int partition) {
            // Spark reuses the memory of a row.
            this.topic = topic.copy();
            this.partition = partition;
            prefix = UTF8String.fromString(cluster + "/" + topic + "/" + partition + "/");
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public BoundFunction bind(StructType arguments) {
        StructField[] fields = arguments.fields();
        if (fields.length != 5) {
            throw new UnsupportedOperationException("record takes five columns, not " + arguments.simpleString());
        }
        inputTypes = new DataType[fields.length];
        for (int place = 0; place < fields.length; place++) {
            inputTypes[place] = fields[place].dataType();
        }
        if (inputTypes[TAG] instanceof StructType) {
            // A type that JsonEncoder does not support fails in the analysis of the query, not in its tasks.
            encoder = new JsonEncoder((StructType) inputTypes[TAG], zone);
        }
        return this;
    }

    @Override
    public DataType[] inputTypes() {
        return inputTypes;
    }

    @Override
    public DataType resultType() {
        StructType header = new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);
        return new StructType()
                .add("topic", DataTypes.StringType)
                .add("key", DataTypes.BinaryType)
                .add("value", DataTypes.BinaryType)
                .add("headers", DataTypes.createArrayType(header))
                .add("source", DataTypes.StringType)
                .add("source_timestamp", DataTypes.LongType)
                .add("cause", DataTypes.StringType);
    }

    @Override
    public String name() {
        return "record";
    }

    @Override
    public String canonicalName() {
        return name;
    }

    @Override
    public String description() {
        return "record(source, key, tag, fault, value): topic, key, value, headers and cause for Kafka";
    }
}
