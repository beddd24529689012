/*
 * One client instance of librdkafka: its map, its bootstrap servers, and the addresses that it dials.
 *
 * A configuration object becomes at most one client, so the state belongs to that object and lives as long as it:
 * librdkafka destroys a client's configuration after its last thread has ended. (on_destroy is too early, because
 * broker threads still resolve after it.)
 */
#ifndef BROKERNAT_CLIENT_H
#define BROKERNAT_CLIENT_H

#include "address_table.h"
#include "once.h"
#include "rdkafka.h"

struct client {
    struct rdkafka rdkafka;
    char *map_text;            /* the text that was set, or NULL */
    struct address_table *map; /* NULL: nothing is changed */
    bool pass;                 /* dial an advertised endpoint without a rule unchanged */
    char map_problem[512];     /* why the client may not connect, or "" */
    char unmapped_problem[128];

    /* Set when the client is created. */
    const rd_kafka_t *rk;
    const rd_kafka_conf_t *conf;
    resolve_cb *resolve; /* the application's; NULL: getaddrinfo. A copy has it from the start. */
    struct endpoint *bootstrap;
    size_t bootstrap_count;
    struct once refused;
};

/* NULL if out of memory. */
struct client *client_new(const struct rdkafka *rdkafka);
/* For the copy of a configuration object: copies the application's resolver and, with `settings`, the settings; does
 * not read a rules file again. */
struct client *client_copy(const struct client *client, bool settings);
void client_free(struct client *client);

/* Set a property; NULL removes it. Return false with the reason in words; then the client may not connect until a valid
 * value is set. */
bool client_set_map(struct client *client, const char *text, char *words, size_t size);
bool client_set_unmapped(struct client *client, const char *text, char *words, size_t size);

/* Whether the client translates or refuses any endpoint. */
bool client_acts(const struct client *client);
void client_start(struct client *client, const rd_kafka_t *rk, const rd_kafka_conf_t *conf);

/* Replaces getaddrinfo. TLS and SASL still verify the name that librdkafka requested. */
int client_resolve(struct client *client, const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **addresses, void *opaque);

/* Writes to the log of the client, or to stderr if librdkafka has no function for it. */
void client_log(const struct client *client, int level, const char *words);

#endif
