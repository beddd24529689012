package io.brokernat.spark;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Timestamp, Duration and the wrappers of google.protobuf, which have columns of their own. */
final class WellKnownReader extends ProtobufReader {
    static final ProtobufSchema SCHEMA = ProtoText.parse(ProtoText.WELL_KNOWN, List.of());

    /** The type of a wrapper's value by the wrapper's name; of the others, their own name. */
    static final Map<String, String> TYPES = types();

    private static final String TIMESTAMP = "google.protobuf.Timestamp";
    private static final String DURATION = "google.protobuf.Duration";
    private static final long MICROS = 1_000_000;
    private static final int NANOS = 1_000_000_000;
    /** The first second of the year 1 and the last one of 9999, and 10,000 years: Protobuf's own limits. */
    static final long FIRST_SECOND = -62_135_596_800L, LAST_SECOND = 253_402_300_799L;
    static final long LONGEST = 315_576_000_000L;

    private final String type;
    private final String label;
    private final ProtobufMessage message;

    WellKnownReader(String type, String label) {
        super(ProtobufBytes.DELIMITED);
        this.type = type;
        this.label = label;
        message = new ProtobufMessage(SCHEMA, type, SCHEMA, type, label);
    }

    private static Map<String, String> types() {
        Map<String, String> found = new HashMap<>();
        found.put(TIMESTAMP, TIMESTAMP);
        found.put(DURATION, DURATION);
        SCHEMA.messages.forEach((name, fields) -> {
            if (fields.size() == 1 && fields.get(0).name.equals("value")) {
                found.put(name, fields.get(0).type);
            }
        });
        return found;
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
