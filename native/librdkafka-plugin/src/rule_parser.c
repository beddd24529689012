/*
 * Parses one rule. All languages report the same fault of a rule, the first one in the order of the checks below; the
 * twins are notation.py and RuleParser.java, and tests/vectors/address_map/ tests all three.
 */
#include "rule.h"

/* One side of a rule: a network, or a host with a port, with a template instead of it, or with neither. */
struct side {
    bool network, subdomains, has_port, template;
    struct host host;
    uint16_t port;
    uint8_t length;
};

static bool has_brace(struct text text) {
    return text_has(text, "{") || text_has(text, "}");
}

static bool plausible(struct text text, const char *side, struct fault *fault) {
    if (text.size == 0) {
        return fault_with(fault, FAULT_EMPTY_SIDE, "the %s side is empty", side);
    }
    if (text_has(text, " ") || text_has(text, "\t")) {
        return fault_with(fault, FAULT_BLANK_INSIDE, "the %s side `%.*s` holds a blank", side, TEXT(text));
    }
    if (text_has(text, "://")) {
        return fault_with(fault, FAULT_LISTENER_URL, "the %s side `%.*s` names a protocol", side, TEXT(text));
    }
    return true;
}

static bool has_host_bits(const struct side *network) {
    for (int i = 0; i < network->host.size; i++) {
        int bits = 8 * (i + 1) - network->length;
        int host_mask = bits <= 0 ? 0 : bits >= 8 ? 0xff : (1 << bits) - 1;
        if (network->host.address[i] & host_mask) {
            return true;
        }
    }
    return false;
}

static bool parse_network(struct text text, struct side *side, struct fault *fault) {
    struct text address_text, length_text;
    text_split(text, '/', &address_text, &length_text);
    if (text_has(length_text, ":")) {
        return fault_with(fault, FAULT_CIDR_WITH_PORT, "the network `%.*s` has a port", TEXT(text));
    }
    uint8_t address[IPV6];
    bool v6 = text_has(address_text, ":");
    bool parsed = v6 ? ip_parse_v6(address_text, address) : ip_parse_v4(address_text, address);
    int size = v6 ? IPV6 : IPV4;
    int length = ip_decimal(length_text, 3);
    if (!parsed || length < 0 || length > 8 * size) {
        return fault_with(fault, FAULT_BAD_CIDR, "`%.*s` is not a network", TEXT(text));
    }
    side->network = true;
    side->length = (uint8_t)length;
    host_of_address(address, (size_t)size, &side->host);
    if (has_host_bits(side)) {
        return fault_with(fault, FAULT_CIDR_HOST_BITS, "the network `%.*s` has host bits set", TEXT(text));
    }
    return true;
}

static bool parse_domain(struct text text, struct side *side, struct fault *fault) {
    struct fault unused;
    bool domain = text_starts(text, "*.") && host_parse(text_from(text, 2), &side->host, &unused);
    if (!domain || side->host.size) {
        return fault_with(fault, FAULT_BAD_WILDCARD, "`%.*s` is not a wildcard", TEXT(text));
    }
    side->subdomains = true;
    return true;
}

static bool parse_advertised(struct text text, struct side *side, struct fault *fault) {
    if (!plausible(text, "advertised", fault)) {
        return false;
    }
    if (has_brace(text)) {
        return fault_with(fault, FAULT_TEMPLATE_ADVERTISED, "the advertised side holds a template");
    }
    if (text_has(text, "/")) {
        return parse_network(text, side, fault);
    }
    struct endpoint_text parts;
    if (!endpoint_split(text, &parts, fault)) {
        return false;
    }
    bool wildcard = text_has(parts.host, "*");
    if (!(wildcard ? parse_domain(parts.host, side, fault) : host_parse(parts.host, &side->host, fault))) {
        return false;
    }
    side->has_port = parts.has_port;
    return !parts.has_port || port_parse(parts.port, &side->port, fault);
}

static bool parse_template(struct text text, struct fault *fault) {
    int base = -1;
    if (text_starts(text, "{") && text_ends(text, "+id}") && text.size > strlen("{+id}")) {
        base = ip_decimal((struct text){text.at + 1, text.size - strlen("{+id}")}, 5);
    }
    if (base < 1 || base > UINT16_MAX) {
        return fault_with(fault, FAULT_BAD_TEMPLATE, "`%.*s` is not a template of a port", TEXT(text));
    }
    return true;
}

static bool parse_reachable(struct text text, struct side *side, struct fault *fault) {
    if (!plausible(text, "reachable", fault)) {
        return false;
    }
    if (text_has(text, "*")) {
        return fault_with(fault, FAULT_WILDCARD_TARGET, "the reachable side holds a wildcard");
    }
    if (text_has(text, "/")) {
        return parse_network(text, side, fault);
    }
    struct endpoint_text parts;
    if (!endpoint_split(text, &parts, fault)) {
        return false;
    }
    if (has_brace(parts.host)) {
        return fault_with(fault, FAULT_BAD_TEMPLATE, "`%.*s` holds a template where the host is", TEXT(parts.host));
    }
    if (!host_parse(parts.host, &side->host, fault)) {
        return false;
    }
    side->has_port = parts.has_port;
    side->template = parts.has_port && has_brace(parts.port);
    return !parts.has_port ||
           (side->template ? parse_template(parts.port, fault) : port_parse(parts.port, &side->port, fault));
}

static bool network_rule(const struct side *advertised, const struct side *reachable, struct fault *fault) {
    if (!advertised->network || !reachable->network) {
        return fault_with(fault, FAULT_CIDR_ONE_SIDE, "only one side is a network");
    }
    if (advertised->host.size != reachable->host.size) {
        return fault_with(fault, FAULT_CIDR_FAMILY_DIFFERS, "one network is IPv4, the other IPv6");
    }
    if (advertised->length != reachable->length) {
        return fault_with(
            fault, FAULT_CIDR_SIZE_DIFFERS, "/%d and /%d differ in size", advertised->length, reachable->length);
    }
    return true;
}

static bool host_rule(const struct side *advertised, const struct side *reachable, struct fault *fault) {
    if (advertised->has_port != reachable->has_port) {
        const char *side = advertised->has_port ? "advertised" : "reachable";
        return fault_with(fault, FAULT_PORT_ON_ONE_SIDE, "only the %s side has a port", side);
    }
    if (reachable->template) {
        return fault_with(
            fault, FAULT_NEEDS_NODE_ID, "it needs the node id, which a client does not know when it dials");
    }
    return true;
}

bool rule_parse(struct text text, struct rule *rule, struct fault *fault) {
    if (text_has(text, "=>") || text_has(text, "->")) {
        return fault_with(fault, FAULT_ARROW, "there is an arrow in place of `=`");
    }
    struct text left, right;
    if (!text_split(text, '=', &left, &right)) {
        return fault_with(fault, FAULT_MISSING_EQUALS, "there is no `=`");
    }
    if (text_has(right, "=")) {
        return fault_with(fault, FAULT_EXTRA_EQUALS, "there is more than one `=`");
    }
    struct side advertised = {0}, reachable = {0};
    if (!parse_advertised(text_strip(left), &advertised, fault) ||
        !parse_reachable(text_strip(right), &reachable, fault)) {
        return false;
    }
    bool networks = advertised.network || reachable.network;
    if (!(networks ? network_rule : host_rule)(&advertised, &reachable, fault)) {
        return false;
    }
    *rule = (struct rule){
        .kind = networks ? RULE_NETWORK : advertised.subdomains ? RULE_SUBDOMAINS : RULE_HOST,
        .advertised = advertised.host,
        .reachable = reachable.host,
        .advertised_port = advertised.port,
        .reachable_port = reachable.port,
        .length = advertised.length,
    };
    return true;
}
