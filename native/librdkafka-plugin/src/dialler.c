/*
 * Decides which address a client dials, for each connect.
 *
 * librdkafka uses host and port of the addresses that it gets here, and the requested name for everything else (SNI,
 * verification, the Kerberos principal). A refusal must be an error of getaddrinfo. EDESTADDRREQ is "Destination
 * address required" in the client's own error, and no resolver returns it.
 */
#include "client.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <syslog.h>

static struct once translated = ONCE_INITIALIZER;

static int look_up(const struct client *client, const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **addresses, void *opaque) {
    return client->resolve ? client->resolve(node, service, hints, addresses, opaque)
                           : getaddrinfo(node, service, hints, addresses);
}

static void release(const struct client *client, struct addrinfo **addresses, void *opaque) {
    if (client->resolve) {
        client->resolve(NULL, NULL, NULL, addresses, opaque);
    } else {
        freeaddrinfo(*addresses);
    }
}

static int refuse(struct client *client, const char *words) {
    if (once_first(&client->refused, words)) {
        client_log(client, LOG_WARNING, words);
    }
    errno = EDESTADDRREQ;
    return EAI_SYSTEM;
}

static bool bootstraps(const struct client *client, const struct endpoint *endpoint) {
    for (size_t i = 0; i < client->bootstrap_count; i++) {
        if (endpoint_equal(&client->bootstrap[i], endpoint)) {
            return true;
        }
    }
    return false;
}

static int dial(struct client *client, const struct rule *rule, const struct endpoint *endpoint,
                const struct addrinfo *hints, struct addrinfo **addresses, void *opaque) {
    char from[ENDPOINT_TEXT], to[ENDPOINT_TEXT], rule_text[RULE_TEXT], port[8];
    char words[2 * ENDPOINT_TEXT + RULE_TEXT + 64];
    struct endpoint reachable;
    struct addrinfo literal = *hints;
    rule_translate(rule, endpoint, &reachable);
    endpoint_format(&endpoint->host, endpoint->port, from);
    endpoint_format(&reachable.host, reachable.port, to);
    rule_format(rule, rule_text);
    snprintf(port, sizeof port, "%d", reachable.port);

    snprintf(words, sizeof words, "translated %s -> %s (rule %s)", from, to, rule_text);
    if (once_first(&translated, words)) {
        client_log(client, LOG_INFO, words);
    }
    if (reachable.host.size) {
        /* AI_ADDRCONFIG would reject an address on a host that has only a loopback interface of that family. */
        literal.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    }
    int error = look_up(client, reachable.host.text, port, &literal, addresses, opaque);
    if (error) {
        int number = errno;
        snprintf(words, sizeof words, "%s cannot be looked up here (%s); it is dialled for %s by the rule %s",
                 reachable.host.text, gai_strerror(error), from, rule_text);
        if (once_first(&client->refused, words)) {
            client_log(client, LOG_WARNING, words);
        }
        errno = number;
    }
    return error;
}

int client_resolve(struct client *client, const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **addresses, void *opaque) {
    struct endpoint endpoint;
    struct fault unused;
    char words[sizeof client->map_problem + 2 * ENDPOINT_TEXT + 128], name[ENDPOINT_TEXT];
    if (!node) {
        release(client, addresses, opaque);
        return 0;
    }
    const char *problem = client->map_problem[0] ? client->map_problem : client->unmapped_problem;
    if (problem[0]) {
        snprintf(words, sizeof words, "refused: the address map of this client cannot be used: %s", problem);
        return refuse(client, words);
    }
    if (!service || !port_parse(text_of(service), &endpoint.port, &unused)) {
        return look_up(client, node, service, hints, addresses, opaque);
    }
    host_told(text_of(node), &endpoint.host);
    const struct rule *rule = address_table_find(client->map, &endpoint);
    if (rule) {
        return dial(client, rule, &endpoint, hints, addresses, opaque);
    }
    if (client->pass || bootstraps(client, &endpoint)) {
        return look_up(client, node, service, hints, addresses, opaque);
    }
    endpoint_format(&endpoint.host, endpoint.port, name);
    snprintf(words, sizeof words,
             "refused: %s has no rule in the address map of this client; "
             "add \"%s = REACHABLE:%d\" or set brokernat.unmapped=pass",
             name, name, endpoint.port);
    return refuse(client, words);
}
