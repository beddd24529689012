package io.brokernat.spark;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Mutated records for {@link JsonDecoder}: {@code Fuzz SECONDS SEED CORPUS}, where each line of CORPUS is a record.
 *
 * <p>Whatever comes in, a row comes out: a fault with a kind and a sentence and nothing beside it, or no fault. A value
 * must not cost more than its size allows; the dearest ones are timed again, because a pause of the JVM is no cost.
 */
public final class Fuzz {
    private static final String[] SCHEMAS = {
        "s STRING, i INT, l BIGINT, t8 TINYINT, d DOUBLE, f FLOAT, m DECIMAL(5,2), b BOOLEAN, t TIMESTAMP, dt DATE, "
                + "o STRUCT<x: INT, y: STRUCT<z: STRING>>, a ARRAY<INT>, ao ARRAY<STRUCT<p: DECIMAL(4,2)>>, "
                + "mp MAP<STRING, INT>, v VARIANT",
        "v VARIANT", "s STRING NOT NULL, m DECIMAL(38,10), mp MAP<STRING, ARRAY<VARIANT>>", "a ARRAY<ARRAY<DOUBLE>>",
    };
    private static final String[] PIECES = {
        "\"", "\\", "\\u", "\\ud83d", "\\ude00", "{", "}", "[", "]", ":", ",", "null", "true", "1e", "-", "0", "\u0000",
        "1e999999999", "9999999999999999999999999999999999999999", "\ud83d\ude00", "\u00e9", " ", "\"v\":", "\"s\":\"x\"",
    };
    private static final long FREE_NANOS = 20_000_000;
    private static final long NANOS_PER_BYTE = 20_000;

    private final Random draw;
    private final List<byte[]> corpus;
    private final List<JsonDecoder> decoders = new ArrayList<>();
    private long values;
    private long bytes;
    private long faults;

    private Fuzz(long seed, List<byte[]> corpus) {
        this.draw = new Random(seed);
        this.corpus = corpus;
        for (String schema : SCHEMAS) {
            decoders.add(new JsonDecoder(StructType.fromDDL(schema), ZoneId.of("UTC")));
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        List<byte[]> corpus = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[2]))) {
            corpus.add(line.getBytes(StandardCharsets.UTF_8));
        }
        Fuzz fuzz = new Fuzz(Long.parseLong(arguments[1]), corpus);
        long end = System.nanoTime() + seconds * 1_000_000_000;
        while (System.nanoTime() < end) {
            fuzz.once();
        }
        System.out.printf("%,d values, %,d bytes, %,d with a fault; none raised%n", fuzz.values, fuzz.bytes, fuzz.faults);
    }

    private void once() {
        byte[] value = corpus.get(draw.nextInt(corpus.size()));
        for (int rounds = draw.nextInt(6); rounds >= 0; rounds--) {
            value = mutated(value);
        }
        JsonDecoder decoder = decoders.get(draw.nextInt(decoders.size()));
        try {
            check(decoder, value);
        } catch (Throwable error) {
            System.err.println("value " + Arrays.toString(value.length > 2000 ? Arrays.copyOf(value, 2000) : value));
            throw error;
        }
        values++;
        bytes += value.length;
    }

    private void check(JsonDecoder decoder, byte[] value) {
        long allowed = FREE_NANOS + NANOS_PER_BYTE * value.length;
        long took = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && took > allowed; attempt++) {
            long began = System.nanoTime();
            InternalRow row = decoder.decode(value);
            took = System.nanoTime() - began;
            if (!row.isNullAt(0)) {
                faults += attempt == 0 ? 1 : 0;
                InternalRow fault = row.getStruct(0, 2);
                boolean whole = !fault.isNullAt(0) && !fault.isNullAt(1) && fault.getUTF8String(1).isValid();
                for (int field = 1; field < row.numFields(); field++) {
                    whole &= row.isNullAt(field);
                }
                if (!whole) {
                    throw new AssertionError("a fault without its parts, or with fields beside it: " + row);
                }
            }
        }
        if (took > allowed) {
            throw new AssertionError(value.length + " bytes took " + took / 1_000_000 + " ms");
        }
    }

    private byte[] mutated(byte[] value) {
        int at = value.length == 0 ? 0 : draw.nextInt(value.length + 1);
        switch (draw.nextInt(7)) {
            case 0:
                return joined(value, at, PIECES[draw.nextInt(PIECES.length)].getBytes(StandardCharsets.UTF_8), at);
            case 1:
                return joined(value, at, new byte[] {(byte) draw.nextInt(256)}, Math.min(at + 1, value.length));
            case 2:
                return Arrays.copyOf(value, at);
            case 3:
                return joined(value, at, new byte[0], Math.min(at + 1 + draw.nextInt(8), value.length));
            case 4:
                byte[] other = corpus.get(draw.nextInt(corpus.size()));
                return joined(value, at, other, value.length);
            case 5:
                String piece = PIECES[draw.nextInt(PIECES.length)].repeat(1 << draw.nextInt(14));
                return joined(value, at, piece.getBytes(StandardCharsets.UTF_8), at);
            default:
                return joined(value, at, Arrays.copyOfRange(value, draw.nextInt(at + 1), at), at);
        }
    }

    private static byte[] joined(byte[] value, int before, byte[] between, int after) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(value, 0, before);
        out.writeBytes(between);
        out.write(value, after, value.length - after);
        return out.toByteArray();
    }
}
