package io.brokernat.spark;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Converts between bytes and text. */
final class Utf8 {
    /** The highest bit of each of eight bytes. */
    private static final long NOT_ASCII = 0x8080808080808080L;

    private Utf8() {}

    /** Whether all bytes are JSON's white space. */
    static boolean isBlank(byte[] bytes) {
        for (byte b : bytes) {
            if (b != ' ' && b != '\t' && b != '\n' && b != '\r') {
                return false;
            }
        }
        return true;
    }

    /** Whether bytes are UTF-8 without surrogates and overlong forms; Jackson does not check these. */
    static boolean isValid(byte[] bytes) {
        int place = 0;
        for (; place <= bytes.length - Long.BYTES; place += Long.BYTES) {
            if ((Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + place) & NOT_ASCII) != 0) {
                return decodes(bytes);
            }
        }
        for (; place < bytes.length; place++) {
            if (bytes[place] < 0) {
                return decodes(bytes);
            }
        }
        return true;
    }

    private static boolean decodes(byte[] bytes) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException error) {
            return false;
        }
    }

    /** The string at the parser's token; null if an escape leaves half of a surrogate pair, which is not UTF-8. */
    static UTF8String text(JsonParser in) throws IOException {
        char[] characters = in.getTextCharacters();
        int from = in.getTextOffset();
        int length = in.getTextLength();
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            char c = characters[from + i];
            if (c >= 0x80) {
                return encoded(characters, from, length);
            }
            bytes[i] = (byte) c;
        }
        return UTF8String.fromBytes(bytes);
    }

    private static UTF8String encoded(char[] characters, int from, int length) {
        return encoded(CharBuffer.wrap(characters, from, length));
    }

    /** A text; null if it has half of a surrogate pair. */
    static UTF8String encoded(CharSequence text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return UTF8String.fromBytes(encoded.array(), encoded.position(), encoded.remaining());
        } catch (CharacterCodingException error) {
            return null;
        }
    }

    /** Whether a text has half of a surrogate pair, which is not UTF-8. */
    static boolean hasHalfSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean isPair = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
                if (!isPair) {
                    return true;
                }
                i++;
            }
        }
        return false;
    }

    /** The first characters of a text; bytes that are not UTF-8 become U+FFFD. */
    static String beginning(byte[] bytes, int from, int to, int characters) {
        // No character has more than four bytes.
        int end = Math.min(to, from + 4 * characters);
        String text = new String(bytes, from, end - from, StandardCharsets.UTF_8);
        int shown = Math.min(characters, text.codePointCount(0, text.length()));
        return text.substring(0, text.offsetByCodePoints(0, shown));
    }
}
