package io.brokernat.agent.address;

import java.util.Arrays;

/**
 * IP addresses as bytes and as canonical text: strict decimals for IPv4, RFC 5952 for IPv6.
 *
 * <p>{@link java.net.InetAddress} is not used, because it accepts {@code 10.1} and {@code 010.0.0.1}, resolves other
 * texts with DNS, converts IPv4-mapped addresses to IPv4, and formats IPv6 without {@code ::}.
 */
final class Ip {
    private static final int GROUPS = 8;

    private Ip() {}

    /** Four bytes; null if the text is not four decimals without leading zeros. */
    static byte[] parseV4(String text) {
        String[] parts = text.split("\\.", -1);
        if (parts.length != 4) {
            return null;
        }
        byte[] address = new byte[4];
        for (int i = 0; i < 4; i++) {
            int value = decimal(parts[i], 3);
            if (value < 0 || value > 255) {
                return null;
            }
            address[i] = (byte) value;
        }
        return address;
    }

    /** Sixteen bytes, or null. No brackets and no zone; the last two groups may be an IPv4 address. */
    static byte[] parseV6(String text) {
        int gap = text.indexOf("::");
        if (gap < 0) {
            int[] groups = groups(text);
            return groups != null && groups.length == GROUPS ? bytes(groups) : null;
        }
        int[] head = groups(text.substring(0, gap));
        int[] tail = groups(text.substring(gap + 2));
        // `::` replaces one or more groups; an IPv4 address is only valid at the end.
        if (head == null || tail == null || head.length + tail.length >= GROUPS || text.substring(0, gap).contains(".")) {
            return null;
        }
        int[] all = Arrays.copyOf(head, GROUPS);
        System.arraycopy(tail, 0, all, GROUPS - tail.length, tail.length);
        return bytes(all);
    }

    /** The canonical text, without brackets. */
    static String format(byte[] address) {
        if (address.length == 4) {
            return dotted(address, 0);
        }
        int[] groups = new int[GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            groups[i] = (address[2 * i] & 0xff) << 8 | address[2 * i + 1] & 0xff;
        }
        if (isMapped(groups)) {
            return "::ffff:" + dotted(address, 12);
        }
        return compressed(groups);
    }

    /** A decimal of at most {@code digits} ASCII digits without leading zeros, or -1. */
    static int decimal(String text, int digits) {
        if (text.isEmpty() || text.length() > digits || text.length() > 1 && text.charAt(0) == '0') {
            return -1;
        }
        return isDigits(text) ? Integer.parseInt(text) : -1;
    }

    /** Whether the text is one or more ASCII digits. */
    static boolean isDigits(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return !text.isEmpty();
    }

    private static boolean isMapped(int[] groups) {
        return groups[5] == 0xffff && Arrays.equals(groups, 0, 5, new int[5], 0, 5);
    }

    /** RFC 5952 4.2: replaces the longest run of zero groups, the first of equal ones, never a single group. */
    private static String compressed(int[] groups) {
        int start = -1;
        int length = 1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && groups[end] == 0) {
                end++;
            }
            if (end - i > length) {
                start = i;
                length = end - i;
            }
        }
        if (start < 0) {
            return join(groups, 0, GROUPS);
        }
        return join(groups, 0, start) + "::" + join(groups, start + length, GROUPS);
    }

    private static String join(int[] groups, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }

    private static String dotted(byte[] bytes, int from) {
        return (bytes[from] & 0xff) + "." + (bytes[from + 1] & 0xff) + "." + (bytes[from + 2] & 0xff) + "." + (bytes[from + 3] & 0xff);
    }

    private static int[] groups(String text) {
        if (text.isEmpty()) {
            return new int[0];
        }
        String[] parts = text.split(":", -1);
        byte[] v4 = parts[parts.length - 1].indexOf('.') < 0 ? null : parseV4(parts[parts.length - 1]);
        int hex = v4 == null ? parts.length : parts.length - 1;
        int[] groups = new int[hex + (v4 == null ? 0 : 2)];
        for (int i = 0; i < hex; i++) {
            if (!parts[i].matches("[0-9a-fA-F]{1,4}")) {
                return null;
            }
            groups[i] = Integer.parseInt(parts[i], 16);
        }
        if (v4 != null) {
            groups[hex] = (v4[0] & 0xff) << 8 | v4[1] & 0xff;
            groups[hex + 1] = (v4[2] & 0xff) << 8 | v4[3] & 0xff;
        }
        return groups;
    }

    private static byte[] bytes(int[] groups) {
        byte[] address = new byte[2 * GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            address[2 * i] = (byte) (groups[i] >> 8);
            address[2 * i + 1] = (byte) groups[i];
        }
        return address;
    }
}
