package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.types.variant.VariantBuilder;
import org.apache.spark.types.variant.VariantSizeLimitException;
import org.apache.spark.unsafe.types.VariantVal;

/** Any value as a VARIANT. A class of its own, because Spark has the type since 4.0. */
final class VariantReader extends ValueReader {
    VariantReader(DataType type, String label, boolean nullable) {
        super(type, label, nullable);
    }

    /** A VARIANT can hold JSON's null, which is something else than no value. */
    @Override
    Object ofNull(JsonParser in, Mismatch mismatch) throws IOException {
        return isNullable() ? value(in, mismatch) : missing(mismatch);
    }

    @Override
    Object value(JsonParser in, Mismatch mismatch) throws IOException {
        try {
            Variant variant = VariantBuilder.parseJson(in, false);
            return new VariantVal(variant.getValue(), variant.getMetadata());
        } catch (VariantSizeLimitException tooLarge) {
            return null;
        }
    }
}
