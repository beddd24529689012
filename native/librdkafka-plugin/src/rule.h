/*
 * One rule: the endpoints that it matches, and their translation.
 *
 *     192.168.1.23:9092 = 172.10.1.40:9093     host and port
 *     kafka-1 = 10.9.0.1                       host; the port does not change
 *     *.hq.internal:9092 = gateway:9093        one or more labels before the domain
 *     10.1.0.0/24 = 10.9.0.0/24                network; host bits and port do not change
 *
 * Templates with the node id are refused, because a client does not know it when it dials.
 */
#ifndef BROKERNAT_RULE_H
#define BROKERNAT_RULE_H

#include "endpoint.h"

enum { RULE_TEXT = 2 * ENDPOINT_TEXT + 8, PORT_KEPT = 0 };

struct rule {
    enum { RULE_HOST, RULE_SUBDOMAINS, RULE_NETWORK } kind;
    struct host advertised, reachable; /* of a network: its address */
    uint16_t advertised_port, reachable_port;
    uint8_t length; /* of a network's prefix, in bits */
};

/* Checks in the same order as src/brokernat/address/notation.py and RuleParser.java. */
bool rule_parse(struct text text, struct rule *rule, struct fault *fault);
bool rule_matches(const struct rule *rule, const struct endpoint *endpoint);
/* Only for endpoints that the rule matches. */
void rule_translate(const struct rule *rule, const struct endpoint *endpoint, struct endpoint *reachable);
/* The canonical text, without blanks. */
void rule_format(const struct rule *rule, char text[static RULE_TEXT]);

#endif
