package io.brokernat.agent.address;

/**
 * Parses one rule. All languages report the same fault of a rule, the first one in the order of the checks below
 * ({@code src/brokernat/address/notation.py} is the twin).
 */
final class RuleParser {
    private RuleParser() {}

    static Rule parse(String text) throws NotationException {
        if (text.contains("=>") || text.contains("->")) {
            throw Fault.ARROW.with("there is an arrow in place of `=`");
        }
        int equals = text.indexOf('=');
        if (equals < 0) {
            throw Fault.MISSING_EQUALS.with("there is no `=`");
        }
        if (text.indexOf('=', equals + 1) >= 0) {
            throw Fault.EXTRA_EQUALS.with("there is more than one `=`");
        }
        Side advertised = Side.advertised(strip(text.substring(0, equals)));
        Side reachable = Side.reachable(strip(text.substring(equals + 1)));
        if (advertised.network != null || reachable.network != null) {
            return networkRule(advertised.network, reachable.network);
        }
        if ((advertised.port == null) != (reachable.port == null)) {
            throw Fault.PORT_ON_ONE_SIDE.with("only the " + (advertised.port == null ? "reachable" : "advertised") + " side has a port");
        }
        if (reachable.template) {
            throw Fault.NEEDS_NODE_ID.with("it needs the node id, which a client does not know when it dials");
        }
        return HostRule.of(advertised.subdomains, advertised.host, advertised.port, reachable.host, reachable.port);
    }

    private static Rule networkRule(Network advertised, Network reachable) throws NotationException {
        if (advertised == null || reachable == null) {
            throw Fault.CIDR_ONE_SIDE.with("only one side is a network");
        }
        if (advertised.address.length != reachable.address.length) {
            throw Fault.CIDR_FAMILY_DIFFERS.with("one network is IPv4, the other IPv6");
        }
        if (advertised.length != reachable.length) {
            throw Fault.CIDR_SIZE_DIFFERS.with("/" + advertised.length + " and /" + reachable.length + " differ in size");
        }
        return new NetworkRule(advertised, reachable);
    }

    /** Removes spaces and tabs around the text; no other character is a blank. */
    static String strip(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && isBlank(text.charAt(start))) {
            start++;
        }
        while (end > start && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** One side of a rule: a network, or a host; {@code port} is a number, a template's base, or null. */
    private static final class Side {
        Network network;
        boolean subdomains;
        Host host;
        Integer port;
        boolean template;

        static Side advertised(String text) throws NotationException {
            refuseShape(text, "advertised");
            if (hasBrace(text)) {
                throw Fault.TEMPLATE_ADVERTISED.with("the advertised side holds a template");
            }
            Side side = new Side();
            if (text.indexOf('/') >= 0) {
                side.network = Network.parse(text);
                return side;
            }
            Endpoint.Text parts = Endpoint.Text.split(text);
            side.subdomains = parts.host.indexOf('*') >= 0;
            side.host = side.subdomains ? domain(parts.host) : Host.parse(parts.host);
            side.port = parts.port == null ? null : Endpoint.parsePort(parts.port);
            return side;
        }

        static Side reachable(String text) throws NotationException {
            refuseShape(text, "reachable");
            if (text.indexOf('*') >= 0) {
                throw Fault.WILDCARD_TARGET.with("the reachable side holds a wildcard");
            }
            Side side = new Side();
            if (text.indexOf('/') >= 0) {
                side.network = Network.parse(text);
                return side;
            }
            Endpoint.Text parts = Endpoint.Text.split(text);
            if (hasBrace(parts.host)) {
                throw Fault.BAD_TEMPLATE.with("`" + parts.host + "` holds a template where the host is");
            }
            side.host = Host.parse(parts.host);
            side.template = parts.port != null && hasBrace(parts.port);
            if (parts.port != null) {
                side.port = side.template ? templateBase(parts.port) : Endpoint.parsePort(parts.port);
            }
            return side;
        }

        private static void refuseShape(String text, String name) throws NotationException {
            if (text.isEmpty()) {
                throw Fault.EMPTY_SIDE.with("the " + name + " side is empty");
            }
            if (text.indexOf(' ') >= 0 || text.indexOf('\t') >= 0) {
                throw Fault.BLANK_INSIDE.with("the " + name + " side `" + text + "` holds a blank");
            }
            if (text.contains("://")) {
                throw Fault.LISTENER_URL.with("the " + name + " side `" + text + "` names a protocol");
            }
        }

        private static Host domain(String text) throws NotationException {
            Host domain = text.startsWith("*.") ? Host.parseOrNull(text.substring(2)) : null;
            if (domain == null || domain.isAddress()) {
                throw Fault.BAD_WILDCARD.with("`" + text + "` is not a wildcard");
            }
            return domain;
        }

        private static int templateBase(String text) throws NotationException {
            int base = text.startsWith("{") && text.endsWith("+id}") ? Ip.decimal(text.substring(1, text.length() - 4), 5) : -1;
            if (base < 1 || base > 65535) {
                throw Fault.BAD_TEMPLATE.with("`" + text + "` is not a template of a port");
            }
            return base;
        }

        private static boolean hasBrace(String text) {
            return text.indexOf('{') >= 0 || text.indexOf('}') >= 0;
        }
    }
}
