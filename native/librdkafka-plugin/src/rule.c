#include "rule.h"

#include <stdio.h>

static uint8_t mask(int length, int index) {
    int bits = length - 8 * index;
    return (uint8_t)(bits <= 0 ? 0 : bits >= 8 ? 0xff : 0xff << (8 - bits));
}

static bool in_network(const struct rule *rule, const struct host *host) {
    uint8_t difference = 0;
    for (int i = 0; i < host->size; i++) {
        difference |= (uint8_t)((host->address[i] ^ rule->advertised.address[i]) & mask(rule->length, i));
    }
    return host->size == rule->advertised.size && difference == 0;
}

static bool below_domain(const struct rule *rule, const struct host *host) {
    char end[HOST_TEXT + 1];
    snprintf(end, sizeof end, ".%s", rule->advertised.text);
    return host->size == 0 && text_ends(text_of(host->text), end);
}

bool rule_matches(const struct rule *rule, const struct endpoint *endpoint) {
    if (rule->advertised_port != PORT_KEPT && rule->advertised_port != endpoint->port) {
        return false;
    }
    switch (rule->kind) {
        case RULE_NETWORK:
            return in_network(rule, &endpoint->host);
        case RULE_SUBDOMAINS:
            return below_domain(rule, &endpoint->host);
        case RULE_HOST:
            break;
    }
    return host_equal(&rule->advertised, &endpoint->host);
}

void rule_translate(const struct rule *rule, const struct endpoint *endpoint, struct endpoint *reachable) {
    reachable->port = rule->reachable_port == PORT_KEPT ? endpoint->port : rule->reachable_port;
    if (rule->kind != RULE_NETWORK) {
        reachable->host = rule->reachable;
        return;
    }
    uint8_t address[IPV6];
    for (int i = 0; i < rule->reachable.size; i++) {
        address[i] = (uint8_t)(rule->reachable.address[i] | (endpoint->host.address[i] & ~mask(rule->length, i)));
    }
    host_of_address(address, rule->reachable.size, &reachable->host);
}

void rule_format(const struct rule *rule, char text[static RULE_TEXT]) {
    if (rule->kind == RULE_NETWORK) {
        const char *advertised = rule->advertised.text, *reachable = rule->reachable.text;
        snprintf(text, RULE_TEXT, "%s/%d=%s/%d", advertised, rule->length, reachable, rule->length);
        return;
    }
    char advertised[ENDPOINT_TEXT], reachable[ENDPOINT_TEXT];
    endpoint_format(&rule->advertised, rule->advertised_port, advertised);
    endpoint_format(&rule->reachable, rule->reachable_port, reachable);
    snprintf(text, RULE_TEXT, "%s%s=%s", rule->kind == RULE_SUBDOMAINS ? "*." : "", advertised, reachable);
}
