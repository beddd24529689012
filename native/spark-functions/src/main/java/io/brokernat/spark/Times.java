package io.brokernat.spark;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.Month;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Converts times {@code yyyy-MM-ddTHH:mm:ss[.ffffff](Z|+hh:mm)} to and from microseconds without a pattern. */
final class Times {
    /** Not a time: the value is outside the range of Spark's TIMESTAMP. */
    static final long UNUSUAL = Long.MIN_VALUE;

    private static final long MICROS = 1_000_000;
    private static final long DAY = 86_400;
    private static final int UP_TO_SECONDS = 19;

    private Times() {}

    /** Microseconds since 1970; {@link #UNUSUAL} if the text has another form or may not be a valid time. */
    static long parsed(char[] text, int from, int length) {
        if (length <= UP_TO_SECONDS
                || text[from + 4] != '-'
                || text[from + 7] != '-'
                || text[from + 10] != 'T'
                || text[from + 13] != ':'
                || text[from + 16] != ':') {
            return UNUSUAL;
        }
        int year = two(text, from) * 100 + two(text, from + 2);
        int month = two(text, from + 5), day = two(text, from + 8);
        int hour = two(text, from + 11), minute = two(text, from + 14), second = two(text, from + 17);
        if (year < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23) {
            return UNUSUAL;
        }
        if (minute < 0 || minute > 59 || second < 0 || second > 59 || day > Month.of(month).length(Year.isLeap(year))) {
            return UNUSUAL;
        }
        int place = from + UP_TO_SECONDS, end = from + length;
        int fraction = 0, digits = 0;
        if (text[place] == '.') {
            for (place++; place < end && text[place] >= '0' && text[place] <= '9' && digits < 6; place++, digits++) {
                fraction = fraction * 10 + text[place] - '0';
            }
            for (int missing = digits; missing < 6; missing++) {
                fraction *= 10;
            }
            if (digits == 0 || place == end) {
                return UNUSUAL;
            }
        }
        int offset = 0;
        if (text[place] != 'Z' || place + 1 != end) {
            offset = offset(text, place, end);
            if (offset == Integer.MIN_VALUE) {
                return UNUSUAL;
            }
        }
        long seconds = LocalDate.of(year, month, day).toEpochDay() * DAY + hour * 3600 + minute * 60 + second;
        return (seconds - offset) * MICROS + fraction;
    }

    /** The seconds of {@code +hh:mm}. */
    private static int offset(char[] text, int place, int end) {
        if (end - place != 6 || text[place] != '+' && text[place] != '-' || text[place + 3] != ':') {
            return Integer.MIN_VALUE;
        }
        int hours = two(text, place + 1), minutes = two(text, place + 4);
        if (hours < 0 || hours > 17 || minutes < 0 || minutes > 59) {
            return Integer.MIN_VALUE;
        }
        int seconds = hours * 3600 + minutes * 60;
        return text[place] == '-' ? -seconds : seconds;
    }

    /** The number of two digits; if they are not digits, far below zero, so that a year with such a half is below zero. */
    private static int two(char[] text, int place) {
        int tens = text[place] - '0', ones = text[place + 1] - '0';
        return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -10_000 : tens * 10 + ones;
    }

    /** {@code yyyy-MM-dd} of days since 1970. */
    static byte[] date(int days) {
        return text(LocalDate.ofEpochDay(days), -1, 0, null);
    }

    /** {@code yyyy-MM-ddTHH:mm:ss.ffffff} and the offset, of microseconds since 1970. */
    static byte[] timestamp(long micros, ZoneId zone) {
        long seconds = Math.floorDiv(micros, MICROS);
        ZoneOffset offset = zone instanceof ZoneOffset
                ? (ZoneOffset) zone
                : zone.getRules().getOffset(Instant.ofEpochSecond(seconds));
        long local = seconds + offset.getTotalSeconds();
        return text(date(local), (int) Math.floorMod(local, DAY), (int) Math.floorMod(micros, MICROS), offset);
    }

    /** {@code yyyy-MM-ddTHH:mm:ss.ffffff} of microseconds since 1970, without a zone. */
    static byte[] local(long micros) {
        long seconds = Math.floorDiv(micros, MICROS);
        return text(date(seconds), (int) Math.floorMod(seconds, DAY), (int) Math.floorMod(micros, MICROS), null);
    }

    private static LocalDate date(long seconds) {
        return LocalDate.ofEpochDay(Math.floorDiv(seconds, DAY));
    }

    /** @param second of the day; -1 for only a date. */
    private static byte[] text(LocalDate date, int second, int micros, ZoneOffset offset) {
        int year = date.getYear();
        // LocalDate pads and signs years like a formatter with `uuuu`.
        byte[] beginning = year < 0 || year > 9999 ? date.toString().getBytes(StandardCharsets.US_ASCII) : null;
        int place = beginning == null ? 10 : beginning.length;
        int zoned = offset == null ? 0 : offset.getTotalSeconds() == 0 ? 1 : 6;
        byte[] text = new byte[place + (second < 0 ? 0 : 16) + zoned];
        if (beginning == null) {
            two(text, 0, year / 100);
            two(text, 2, year % 100);
            text[4] = '-';
            two(text, 5, date.getMonthValue());
            text[7] = '-';
            two(text, 8, date.getDayOfMonth());
        } else {
            System.arraycopy(beginning, 0, text, 0, place);
        }
        if (second >= 0) {
            text[place] = 'T';
            two(text, place + 1, second / 3600);
            text[place + 3] = ':';
            two(text, place + 4, second / 60 % 60);
            text[place + 6] = ':';
            two(text, place + 7, second % 60);
            text[place + 9] = '.';
            two(text, place + 10, micros / 10_000);
            two(text, place + 12, micros / 100 % 100);
            two(text, place + 14, micros % 100);
        }
        if (zoned == 1) {
            text[text.length - 1] = 'Z';
        } else if (zoned == 6) {
            int seconds = Math.abs(offset.getTotalSeconds());
            text[text.length - 6] = (byte) (offset.getTotalSeconds() < 0 ? '-' : '+');
            two(text, text.length - 5, seconds / 3600);
            text[text.length - 3] = ':';
            two(text, text.length - 2, seconds / 60 % 60);
        }
        return text;
    }

    private static void two(byte[] text, int place, int number) {
        text[place] = (byte) ('0' + number / 10);
        text[place + 1] = (byte) ('0' + number % 10);
    }
}
