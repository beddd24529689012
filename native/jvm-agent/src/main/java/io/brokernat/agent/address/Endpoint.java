package io.brokernat.agent.address;

/** A host and a port. The text form is {@code host:port} or {@code [IPv6]:port}. */
public final class Endpoint {
    private final Host host;
    private final int port;

    public Endpoint(Host host, int port) {
        this.host = host;
        this.port = port;
    }

    public static Endpoint parse(String text) throws NotationException {
        Text parts = Text.split(RuleParser.strip(text));
        if (parts.port == null) {
            throw Fault.MISSING_PORT.with("`" + RuleParser.strip(text) + "` has no port");
        }
        int port = parsePort(parts.port);
        return new Endpoint(Host.parse(parts.host), port);
    }

    static int parsePort(String text) throws NotationException {
        int port = Ip.decimal(text, 5);
        if (port < 1 || port > 65535) {
            throw Fault.BAD_PORT.with(text.isEmpty() ? "the port after `:` is missing" : "`" + text + "` is not a port");
        }
        return port;
    }

    public Host host() {
        return host;
    }

    public int port() {
        return port;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Endpoint && host.equals(((Endpoint) other).host) && port == ((Endpoint) other).port;
    }

    @Override
    public int hashCode() {
        return 31 * host.hashCode() + port;
    }

    @Override
    public String toString() {
        return host.bracketed() + ":" + port;
    }

    /** The host (IPv6 normalised, others unchecked) and the text of the port, null if there is none. */
    static final class Text {
        final String host;
        final String port;

        private Text(String host, String port) {
            this.host = host;
            this.port = port;
        }

        static Text split(String text) throws NotationException {
            if (text.startsWith("[")) {
                return splitV6(text);
            }
            int colon = text.indexOf(':');
            if (colon != text.lastIndexOf(':')) {
                throw Fault.BARE_IPV6.with("`" + text + "` has more than one colon");
            }
            return colon < 0 ? new Text(text, null) : new Text(text.substring(0, colon), text.substring(colon + 1));
        }

        private static Text splitV6(String text) throws NotationException {
            int close = text.indexOf(']');
            String rest = close < 0 ? "" : text.substring(close + 1);
            if (close < 0 || !rest.isEmpty() && rest.charAt(0) != ':' || text.substring(1, close).indexOf(':') < 0) {
                throw Fault.BAD_IPV6.with("`" + text + "` is not an IPv6 address");
            }
            String host = Host.parseV6(text.substring(1, close)).toString();
            return new Text(host, rest.isEmpty() ? null : rest.substring(1));
        }
    }
}
