package io.brokernat.agent.address;

import java.util.Locale;

/**
 * A name or an IP address in its canonical form; IPv6 without brackets.
 *
 * <p>If the last label is a number, the text must be a valid IPv4 address: resolvers interpret {@code 10.1}
 * differently, so it is not accepted as a name.
 */
public final class Host {
    // RFC 1035 2.3.4: 255 octets on the wire.
    private static final int MAX_NAME = 253;
    private static final int MAX_LABEL = 63;

    private final String text;
    private final byte[] address;

    private Host(String text, byte[] address) {
        this.text = text;
        this.address = address;
    }

    public static Host parse(String text) throws NotationException {
        if (text.indexOf(':') >= 0) {
            return parseV6(text);
        }
        if (text.isEmpty()) {
            throw Fault.EMPTY_HOST.with("the host is missing");
        }
        String name = withoutFinalDot(text);
        return Ip.isDigits(name.substring(name.lastIndexOf('.') + 1)) ? parseV4(text) : parseName(text, name);
    }

    /** A host from a broker or a configuration; an invalid one becomes a name that no rule matches. */
    public static Host of(String text) {
        Host host = parseOrNull(text);
        return host == null ? new Host(text.toLowerCase(Locale.ROOT), null) : host;
    }

    static Host parseOrNull(String text) {
        try {
            return parse(text);
        } catch (NotationException e) {
            return null;
        }
    }

    static Host of(byte[] address) {
        return new Host(Ip.format(address), address);
    }

    static Host parseV4(String text) throws NotationException {
        byte[] address = Ip.parseV4(text);
        if (address == null) {
            throw Fault.BAD_IPV4.with("`" + text + "` is not an IPv4 address");
        }
        return of(address);
    }

    static Host parseV6(String text) throws NotationException {
        byte[] address = Ip.parseV6(text);
        if (address == null) {
            throw Fault.BAD_IPV6.with("`" + text + "` is not an IPv6 address");
        }
        return of(address);
    }

    private static Host parseName(String text, String name) throws NotationException {
        boolean labels = true;
        for (String label : name.split("\\.", -1)) {
            labels &= isLabel(label);
        }
        if (!labels || name.length() > MAX_NAME) {
            throw Fault.BAD_HOST.with("`" + text + "` is not a host name");
        }
        return new Host(name.toLowerCase(Locale.ROOT), null);
    }

    private static String withoutFinalDot(String text) {
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    private static boolean isLabel(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // Checked before lowercasing: the lower case of the Kelvin sign is an ASCII k.
            if (!(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')) {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= MAX_LABEL;
    }

    public boolean isAddress() {
        return address != null;
    }

    /** Four or sixteen bytes; null for a name. */
    public byte[] address() {
        return address == null ? null : address.clone();
    }

    /** The host as written in an endpoint or a rule, IPv6 in brackets. */
    String bracketed() {
        return text.indexOf(':') < 0 ? text : "[" + text + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Host && text.equals(((Host) other).text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
