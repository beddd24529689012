/*
 * The faults of a rule. The Python, Java and C parsers report the same kinds (tests/vectors/address_map/); a rule has
 * at most one fault, the first from left to right.
 */
#ifndef BROKERNAT_FAULT_H
#define BROKERNAT_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#define BROKERNAT_FAULTS(X)                                                                                            \
    X(ARROW, "arrow", "write `=` between the sides: `192.168.1.23:9092 = 172.10.1.40:9093`")                           \
    X(MISSING_EQUALS, "missing-equals",                                                                                \
      "write `advertised = reachable`, for example `192.168.1.23:9092 = 172.10.1.40:9093`")                            \
    X(EXTRA_EQUALS, "extra-equals", "separate rules by `,` or by new lines, not by blanks")                            \
    X(EMPTY_SIDE, "empty-side",                                                                                        \
      "a rule has an advertised side and a reachable side: `192.168.1.23:9092 = 172.10.1.40:9093`")                    \
    X(BLANK_INSIDE, "blank-inside", "separate rules by `,` or by new lines; an endpoint holds no blanks")              \
    X(LISTENER_URL, "listener-url", "write host and port only, without the listener's protocol: `kafka-1:9092`")       \
    X(EMPTY_HOST, "empty-host", "put a name or an address before the port: `kafka-1:9092`")                            \
    X(BAD_HOST, "bad-host",                                                                                            \
      "names hold letters, digits, `-`, `_` and dots; international names are written as `xn--...`")                   \
    X(BAD_IPV4, "bad-ipv4", "write four decimals from 0 to 255 without leading zeros: `192.168.1.23`")                 \
    X(BAD_IPV6, "bad-ipv6", "write an IPv6 address in brackets, without a zone: `[fd00::1]:9092`")                     \
    X(BARE_IPV6, "bare-ipv6", "write an IPv6 address in brackets: `[fd00::1]` or `[fd00::1]:9092`")                    \
    X(BAD_PORT, "bad-port", "a port is a number from 1 to 65535")                                                      \
    X(MISSING_PORT, "missing-port", "an endpoint is `host:port`, for example `172.10.1.40:9093`")                      \
    X(PORT_ON_ONE_SIDE, "port-on-one-side", "give a port on both sides, or on neither to keep the port")               \
    X(BAD_CIDR, "bad-cidr", "write a network as address/length: `10.1.0.0/24` or `fd00:1::/64`")                       \
    X(CIDR_WITH_PORT, "cidr-with-port", "a network rule keeps the port: leave the port out on both sides")             \
    X(CIDR_HOST_BITS, "cidr-host-bits", "a network is written with its host bits zero")                                \
    X(CIDR_ONE_SIDE, "cidr-one-side",                                                                                  \
      "translate a network to a network of the same size: `10.1.0.0/24 = 10.9.0.0/24`")                                \
    X(CIDR_FAMILY_DIFFERS, "cidr-family-differs", "both networks are IPv4, or both are IPv6")                          \
    X(CIDR_SIZE_DIFFERS, "cidr-size-differs",                                                                          \
      "both networks have the same prefix length, so that host bits can be kept")                                      \
    X(BAD_WILDCARD, "bad-wildcard", "a wildcard is `*.` before a domain: `*.hq.internal`")                             \
    X(WILDCARD_TARGET, "wildcard-target",                                                                              \
      "one endpoint is dialled: write the gateway's name or address on the right")                                     \
    X(TEMPLATE_ADVERTISED, "template-advertised",                                                                      \
      "the node id is for the reachable side: `*.hq.internal:9092 = gateway:{9092+id}`")                               \
    X(BAD_TEMPLATE, "bad-template",                                                                                    \
      "the port may be `{BASE+id}` with a base from 1 to 65535: `gateway:{9092+id}`")                                  \
    X(NEEDS_NODE_ID, "needs-node-id",                                                                                  \
      "only a proxy knows node ids; clients need one `host:port` rule for each broker")

enum fault_kind {
#define BROKERNAT_KIND(name, kind, hint) FAULT_##name,
    BROKERNAT_FAULTS(BROKERNAT_KIND)
#undef BROKERNAT_KIND
};

struct fault {
    enum fault_kind kind;
    char words[400];
};

/* The identifier, the same in all languages, such as "bad-port". */
const char *fault_name(enum fault_kind kind);

/* Sets the message with the kind's hint. Always returns false, so that a parser can return it. */
bool fault_with(struct fault *fault, enum fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
