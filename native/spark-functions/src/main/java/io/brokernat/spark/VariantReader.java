package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import java.io.IOException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.types.variant.VariantBuilder;
import org.apache.spark.types.variant.VariantSizeLimitException;
import org.apache.spark.unsafe.types.VariantVal;

/** Reads any value as a VARIANT. A separate class, because Spark has the type since 4.0. */
final class VariantReader extends ValueReader {
    private final String tooLarge;

    VariantReader(DataType type, String label, boolean nullable) {
        super(type, label, nullable);
        tooLarge = "field `" + label + "`: expected a value that fits into Spark's VARIANT";
    }

    /** A VARIANT can contain JSON's null, which is different from no value. */
    @Override
    Object ofNull(JsonParser in, Mismatch mismatch) throws IOException {
        return isNullable() ? value(in, mismatch) : missing(mismatch);
    }

    @Override
    Object value(JsonParser in, Mismatch mismatch) throws IOException {
        JsonStreamContext here = in.getParsingContext();
        JsonStreamContext around = in.currentToken().isStructStart() ? here.getParent() : here;
        try {
            Variant variant = VariantBuilder.parseJson(new WholeTexts(in), false);
            return new VariantVal(variant.getValue(), variant.getMetadata());
        } catch (VariantSizeLimitException error) {
            mismatch.first(tooLarge);
        } catch (HalfSurrogateException error) {
            mismatch.first(expected);
        }
        // After an error the builder leaves the parser inside the value.
        while (in.getParsingContext() != around) {
            in.nextToken();
        }
        return null;
    }

    /** Rejects half of a surrogate pair: Spark 4.0 writes a question mark for it, 4.3 reports an error in the JSON. */
    private static final class WholeTexts extends JsonParserDelegate {
        WholeTexts(JsonParser in) {
            super(in);
        }

        @Override
        public String getText() throws IOException {
            return whole(super.getText());
        }

        @Override
        public String currentName() throws IOException {
            return whole(super.currentName());
        }

        @Override
        @Deprecated
        public String getCurrentName() throws IOException {
            return whole(super.currentName());
        }

        private static String whole(String text) throws IOException {
            if (text != null && Utf8.hasHalfSurrogate(text)) {
                throw new HalfSurrogateException();
            }
            return text;
        }
    }

    private static final class HalfSurrogateException extends IOException {
        private static final long serialVersionUID = 1;
    }
}
