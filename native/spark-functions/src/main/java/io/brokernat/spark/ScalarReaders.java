package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.ZoneId;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/** The readers of values without parts: one for each kind of JSON token of a type. */
final class ScalarReaders {
    private ScalarReaders() {}

    static final class OfString extends ValueReader {
        OfString(DataType type, String label, boolean nullable) {
            super(type, label, nullable);
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) throws IOException {
            return in.currentToken() == JsonToken.VALUE_STRING ? Utf8.text(in) : null;
        }
    }

    static final class OfBoolean extends ValueReader {
        OfBoolean(DataType type, String label, boolean nullable) {
            super(type, label, nullable);
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) {
            JsonToken token = in.currentToken();
            return token == JsonToken.VALUE_TRUE ? Boolean.TRUE : token == JsonToken.VALUE_FALSE ? Boolean.FALSE : null;
        }
    }

    /** TINYINT to BIGINT: a number without point and exponent, in the range of the type. */
    static final class OfInteger extends ValueReader {
        private final int bytes;

        OfInteger(DataType type, String label, boolean nullable) {
            super(type, label, nullable);
            bytes = type.defaultSize();
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) throws IOException {
            if (in.currentToken() != JsonToken.VALUE_NUMBER_INT || in.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                return null;
            }
            long value = in.getLongValue();
            switch (bytes) {
                case 1:
                    return value == (byte) value ? (Object) (byte) value : null;
                case 2:
                    return value == (short) value ? (Object) (short) value : null;
                case 4:
                    return value == (int) value ? (Object) (int) value : null;
                default:
                    return value;
            }
        }
    }

    /** FLOAT and DOUBLE: the nearest value, which must be finite. */
    static final class OfFloat extends ValueReader {
        private final boolean isFloat;

        OfFloat(DataType type, String label, boolean nullable) {
            super(type, label, nullable);
            isFloat = type.typeName().equals("float");
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) throws IOException {
            if (!in.currentToken().isNumeric()) {
                return null;
            }
            if (isFloat) {
                float value = Float.parseFloat(in.getText());
                return Float.isInfinite(value) ? null : (Object) value;
            }
            double value = in.getDoubleValue();
            return Double.isInfinite(value) ? null : (Object) value;
        }
    }

    /** DECIMAL: all digits before the point and all significant ones after it must fit. */
    static final class OfDecimal extends ValueReader {
        private final int precision;
        private final int scale;

        OfDecimal(DecimalType type, String label, boolean nullable) {
            super(type, label, nullable);
            precision = type.precision();
            scale = type.scale();
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) throws IOException {
            if (!in.currentToken().isNumeric()) {
                return null;
            }
            BigDecimal exact;
            try {
                exact = new BigDecimal(in.getTextCharacters(), in.getTextOffset(), in.getTextLength()).stripTrailingZeros();
            } catch (NumberFormatException | ArithmeticException exponent) {
                return null;
            }
            // Checked before the scale is set, which expands 1e999999999 to all its digits.
            long whole = (long) exact.precision() - exact.scale();
            if (exact.signum() != 0 && (whole > precision - scale || exact.scale() > scale)) {
                return null;
            }
            return Decimal.apply(exact.signum() == 0 ? BigDecimal.ZERO.setScale(scale) : exact.setScale(scale), precision, scale);
        }
    }

    /** DATE, TIMESTAMP, TIMESTAMP_NTZ: text that Spark's casts read and that begins with a date, yyyy-MM-dd. */
    static final class OfTime extends ValueReader {
        private final String type;
        private final boolean isTimestamp;
        private final ZoneId zone;

        OfTime(DataType type, String label, boolean nullable, ZoneId zone) {
            super(type, label, nullable);
            this.type = type.typeName();
            isTimestamp = this.type.equals("timestamp");
            this.zone = zone;
        }

        @Override
        Object value(JsonParser in, Mismatch mismatch) throws IOException {
            if (in.currentToken() != JsonToken.VALUE_STRING) {
                return null;
            }
            // A cast also reads "2026" as a date, and "12:30" as a time of the current day.
            int from = in.getTextOffset();
            char[] text = in.getTextCharacters();
            if (in.getTextLength() < 10 || text[from + 4] != '-' || text[from + 7] != '-') {
                return null;
            }
            if (isTimestamp) {
                long micros = Times.parsed(text, from, in.getTextLength());
                if (micros != Times.UNUSUAL) {
                    return micros;
                }
            }
            UTF8String utf8 = Utf8.text(in);
            if (utf8 == null) {
                return null;
            }
            switch (type) {
                case "timestamp":
                    return value(DateTimeUtils.stringToTimestamp(utf8, zone));
                case "timestamp_ntz":
                    return value(DateTimeUtils.stringToTimestampWithoutTimeZone(utf8));
                default:
                    // The cast to DATE accepts any text after a T or a blank.
                    boolean valid = in.getTextLength() == 10 || DateTimeUtils.stringToTimestamp(utf8, zone).isDefined();
                    return valid ? value(DateTimeUtils.stringToDate(utf8)) : null;
            }
        }

        private static Object value(Option<Object> read) {
            return read.isDefined() ? read.get() : null;
        }
    }
}
