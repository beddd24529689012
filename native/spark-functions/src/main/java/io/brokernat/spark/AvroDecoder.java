package io.brokernat.spark;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Schema;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/** Decodes one Avro record in binary encoding to one row. Bytes after it are a fault: they indicate another schema. */
final class AvroDecoder extends SchemaDecoder {
    private final Schema readerSchema;
    private final AvroReader.Row record;
    private final AvroBytes bytes = new AvroBytes();
    private final Map<Integer, ResolvingDecoder> resolvers = new HashMap<>();

    /** @param registry null if values have no schema id. */
    AvroDecoder(Schema readerSchema, StructType schema, Registry registry) {
        super(registry, schema.length());
        this.readerSchema = readerSchema;
        record = new AvroReader.Row(readerSchema, schema, "");
    }

    @Override
    InternalRow record(byte[] value, int from, int id) throws IOException, Registry.UnknownSchemaException {
        boolean known = registry == null || resolvers.containsKey(id);
        Schema writerSchema = known ? readerSchema : (Schema) registry.schema(id, Registry.AVRO);
        Object[] row = new Object[columns + 1];
        try {
            ResolvingDecoder in = resolver(id, writerSchema);
            bytes.set(value, from);
            // Also discards the state of an earlier value that was not read completely.
            in.configure(bytes);
            record.readInto(row, 1, in);
            in.drain();
            if (bytes.left() > 0) {
                return malformed(id, "there are " + bytes.left() + " bytes behind the record");
            }
            return new GenericInternalRow(row);
        } catch (AvroTypeException incompatible) {
            return incompatible(id, firstLine(incompatible.getMessage()));
        } catch (RuntimeException | StackOverflowError error) {
            // Avro's parser does not check the index of a union's branch or of an enumeration's symbol.
            return malformed(id, "a union or an enumeration has no such member");
        }
    }

    private ResolvingDecoder resolver(int id, Schema writerSchema) throws IOException {
        ResolvingDecoder known = resolvers.get(id);
        if (known == null) {
            if (resolvers.size() >= MOST_SCHEMAS) {
                resolvers.clear();
            }
            known = DecoderFactory.get().resolvingDecoder(writerSchema, readerSchema, bytes);
            resolvers.put(id, known);
        }
        return known;
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }
}
