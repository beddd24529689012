/*
 * One client instance of librdkafka: its map, its bootstrap servers, and what it really dials.
 *
 * A configuration object becomes at most one client, so the state hangs on that object and lives as long as it:
 * librdkafka destroys a client's configuration after the last of its threads has ended. (Its on_destroy is no such
 * place: broker threads still resolve after it.)
 */
#ifndef BROKERNAT_CLIENT_H
#define BROKERNAT_CLIENT_H

#include "address_table.h"
#include "once.h"
#include "rdkafka.h"

struct client {
    struct rdkafka rdkafka;
    char *map_text;            /* as it was set, or NULL */
    struct address_table *map; /* NULL: nothing is changed */
    bool pass;                 /* what becomes of an advertised endpoint that no rule names */
    char map_problem[512];     /* why nothing may be dialled, or "" */
    char unmapped_problem[128];

    /* From here on known when the client is made. */
    const rd_kafka_t *rk;
    const rd_kafka_conf_t *conf;
    resolve_cb *resolve; /* of the application; NULL: getaddrinfo. A copy has it from the start. */
    struct endpoint *bootstrap;
    size_t bootstrap_count;
    struct once refused;
};

/* NULL without memory. */
struct client *client_new(const struct rdkafka *rdkafka);
/* For the copy of a configuration object: the application's resolver, and the same settings unless they are left out; a
 * file of rules is not read again. */
struct client *client_copy(const struct client *client, bool settings);
void client_free(struct client *client);

/* The properties; NULL takes one back. False with the reason in words; nothing is dialled until a right one is set. */
bool client_set_map(struct client *client, const char *text, char *words, size_t size);
bool client_set_unmapped(struct client *client, const char *text, char *words, size_t size);

/* Whether anything is to be translated or refused. */
bool client_acts(const struct client *client);
void client_start(struct client *client, const rd_kafka_t *rk, const rd_kafka_conf_t *conf);

/* In place of getaddrinfo. The name that TLS and SASL verify stays the one that librdkafka asked for. */
int client_resolve(struct client *client, const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **addresses, void *opaque);

/* Into the log of the client, where librdkafka offers a way to it. */
void client_log(const struct client *client, int level, const char *words);

#endif
