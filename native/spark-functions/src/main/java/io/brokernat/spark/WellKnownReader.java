package io.brokernat.spark;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DurationProto;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.WireFormat;
import com.google.protobuf.WrappersProto;
import java.io.IOException;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads Timestamp, Duration and the wrappers of google.protobuf, which have their own column types. */
final class WellKnownReader extends ProtobufReader {
    /** The library's types by full name; a writer's file may have other types with these names. */
    static final Map<String, Descriptor> TYPES = Stream.of(
                    TimestampProto.getDescriptor(), DurationProto.getDescriptor(), WrappersProto.getDescriptor())
            .flatMap(file -> file.getMessageTypes().stream())
            .collect(Collectors.toMap(Descriptor::getFullName, Function.identity()));

    private static final String TIMESTAMP = "google.protobuf.Timestamp";
    private static final String DURATION = "google.protobuf.Duration";
    private static final long MICROS = 1_000_000;
    private static final int NANOS = 1_000_000_000;
    /** Protobuf's own limits: the first second of the year 1, the last one of 9999, and 10,000 years. */
    static final long FIRST_SECOND = -62_135_596_800L, LAST_SECOND = 253_402_300_799L;
    static final long LONGEST = 315_576_000_000L;

    private final String type;
    private final String label;
    private final ProtobufMessage message;

    WellKnownReader(Descriptor type, String label) {
        super(WireFormat.WIRETYPE_LENGTH_DELIMITED);
        this.type = type.getFullName();
        this.label = label;
        message = new ProtobufMessage(type, type, label);
    }

    @Override
    Object read(ProtobufBytes in, Object before) throws IOException {
        return message.read(in, before);
    }

    @Override
    Object zero() throws IOException {
        return finished(new Object[message.size()]);
    }

    @Override
    Object finished(Object read) throws IOException {
        Object[] row = (Object[]) read;
        message.finish(row, 0);
        if (type.equals(TIMESTAMP)) {
            return timestamp((Long) row[0], (Integer) row[1]);
        }
        return type.equals(DURATION) ? (Object) duration((Long) row[0], (Integer) row[1]) : row[0];
    }

    private long timestamp(long seconds, int nanos) throws IOException {
        if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= NANOS) {
            throw mismatch("TIMESTAMP", seconds, nanos);
        }
        return seconds * MICROS + nanos / 1000;
    }

    private long duration(long seconds, int nanos) throws IOException {
        boolean isMixed = seconds < 0 && nanos > 0 || seconds > 0 && nanos < 0;
        if (isMixed || Math.abs(seconds) > LONGEST || seconds == Long.MIN_VALUE || Math.abs((long) nanos) >= NANOS) {
            throw mismatch("INTERVAL", seconds, nanos);
        }
        return seconds * MICROS + nanos / 1000;
    }

    private MismatchException mismatch(String expected, long seconds, int nanos) {
        return new MismatchException(
                label, "expected " + expected + ", found " + seconds + " seconds and " + nanos + " nanoseconds");
    }
}
