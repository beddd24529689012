package io.brokernat.agent.address;

import java.util.Locale;

/**
 * The faults of a rule. The Python, Java and C parsers report the same kinds ({@code tests/vectors/address_map/}); a
 * rule has at most one fault, the first from left to right.
 */
public enum Fault {
    ARROW("write `=` between the sides: `192.168.1.23:9092 = 172.10.1.40:9093`"),
    MISSING_EQUALS("write `advertised = reachable`, for example `192.168.1.23:9092 = 172.10.1.40:9093`"),
    EXTRA_EQUALS("separate rules by `,` or by new lines, not by blanks"),
    EMPTY_SIDE("a rule has an advertised side and a reachable side: `192.168.1.23:9092 = 172.10.1.40:9093`"),
    BLANK_INSIDE("separate rules by `,` or by new lines; an endpoint holds no blanks"),
    LISTENER_URL("write host and port only, without the listener's protocol: `kafka-1:9092`"),
    EMPTY_HOST("put a name or an address before the port: `kafka-1:9092`"),
    BAD_HOST("names hold letters, digits, `-`, `_` and dots; international names are written as `xn--...`"),
    BAD_IPV4("write four decimals from 0 to 255 without leading zeros: `192.168.1.23`"),
    BAD_IPV6("write an IPv6 address in brackets, without a zone: `[fd00::1]:9092`"),
    BARE_IPV6("write an IPv6 address in brackets: `[fd00::1]` or `[fd00::1]:9092`"),
    BAD_PORT("a port is a number from 1 to 65535"),
    MISSING_PORT("an endpoint is `host:port`, for example `172.10.1.40:9093`"),
    PORT_ON_ONE_SIDE("give a port on both sides, or on neither to keep the port"),
    BAD_CIDR("write a network as address/length: `10.1.0.0/24` or `fd00:1::/64`"),
    CIDR_WITH_PORT("a network rule keeps the port: leave the port out on both sides"),
    CIDR_HOST_BITS("a network is written with its host bits zero"),
    CIDR_ONE_SIDE("translate a network to a network of the same size: `10.1.0.0/24 = 10.9.0.0/24`"),
    CIDR_FAMILY_DIFFERS("both networks are IPv4, or both are IPv6"),
    CIDR_SIZE_DIFFERS("both networks have the same prefix length, so that host bits can be kept"),
    BAD_WILDCARD("a wildcard is `*.` before a domain: `*.hq.internal`"),
    WILDCARD_TARGET("one endpoint is dialled: write the gateway's name or address on the right"),
    TEMPLATE_ADVERTISED("the node id is for the reachable side: `*.hq.internal:9092 = gateway:{9092+id}`"),
    BAD_TEMPLATE("the port may be `{BASE+id}` with a base from 1 to 65535: `gateway:{9092+id}`"),
    NEEDS_NODE_ID("only a proxy knows node ids; clients need one `host:port` rule for each broker");

    private final String hint;

    Fault(String hint) {
        this.hint = hint;
    }

    /** The identifier, the same in all languages, such as {@code bad-port}. */
    public String kind() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    NotationException with(String message) {
        return new NotationException(this, message, hint);
    }
}
