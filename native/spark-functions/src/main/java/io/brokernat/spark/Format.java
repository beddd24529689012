package io.brokernat.spark;

import java.io.Serializable;
import java.time.ZoneId;
import java.util.Arrays;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.StructType;

/**
 * A format and its settings, from the name of a function: {@code decode.FORMAT.SETTING….COLUMNS}.
 *
 * <p>The classes of a format's library are loaded when its decoder is created, so a job needs only the libraries of the
 * formats that it uses.
 */
abstract class Format implements Serializable {
    private static final long serialVersionUID = 1;

    final StructType columns;
    private final String name;

    private Format(StructType columns, String... name) {
        this.columns = columns;
        this.name = String.join(",", name) + "," + columns.json();
    }

    /** @throws IllegalArgumentException if a column cannot be read from this format */
    abstract Decoder decoder();

    /** Spark treats functions with equal names as one. */
    @Override
    public String toString() {
        return name;
    }

    /**
     * @param settings after {@code decode}
     * @return null if no format has these settings
     */
    static Format of(String[] settings, StructType columns) {
        String kind = String.join(".", Arrays.copyOf(settings, 1)) + settings.length;
        switch (kind) {
            case "json2":
                return json(columns, settings[1]);
            case "avro3":
                return avro(columns, Registry.named(settings[1]), settings[1], settings[2]);
            case "protobuf3":
                return protobuf(columns, Registry.named(settings[1]), settings[1], settings[2]);
            case "csv3":
                return csv(columns, settings[1], settings[2].charAt(0));
            case "raw1":
                return raw(columns);
            default:
                return null;
        }
    }

    private static Format json(StructType columns, String zone) {
        ZoneId parsed = DateTimeUtils.getZoneId(zone);
        return new Format(columns, "json", zone) {
            private static final long serialVersionUID = 1;

            @Override
            Decoder decoder() {
                return new JsonDecoder(columns, parsed);
            }
        };
    }

    private static Format csv(StructType columns, String zone, char delimiter) {
        ZoneId parsed = DateTimeUtils.getZoneId(zone);
        return new Format(columns, "csv", zone, String.valueOf(delimiter)) {
            private static final long serialVersionUID = 1;

            @Override
            Decoder decoder() {
                return new CsvDecoder(columns, parsed, delimiter);
            }
        };
    }

    private static Format raw(StructType columns) {
        return new Format(columns, "raw") {
            private static final long serialVersionUID = 1;

            @Override
            Decoder decoder() {
                return new RawDecoder(columns);
            }
        };
    }

    private static Format avro(StructType columns, Registry registry, String id, String schema) {
        return new Format(columns, "avro", id, schema) {
            private static final long serialVersionUID = 1;

            @Override
            Decoder decoder() {
                return new AvroDecoder(new Schema.Parser().parse(schema), columns, registry);
            }
        };
    }

    private static Format protobuf(StructType columns, Registry registry, String id, String schema) {
        return new Format(columns, "protobuf", id, schema) {
            private static final long serialVersionUID = 1;

            @Override
            Decoder decoder() {
                return new ProtobufDecoder(ProtobufSchema.of(schema), registry);
            }
        };
    }
}
