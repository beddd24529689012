#include "client.h"

#include "map_text.h"
#include "trampolines.h"

#include <stdio.h>
#include <stdlib.h>

struct client *client_new(const struct rdkafka *rdkafka) {
    struct client *client = calloc(1, sizeof *client);
    if (client) {
        client->rdkafka = *rdkafka;
        pthread_mutex_init(&client->refused.lock, NULL);
    }
    return client;
}

static struct address_table *table_copy(const struct address_table *table) {
    size_t size = sizeof *table + table->count * sizeof table->rules[0];
    struct address_table *copy = malloc(size);
    return copy ? memcpy(copy, table, size) : NULL;
}

struct client *client_copy(const struct client *client, bool settings) {
    struct client *copy = client_new(&client->rdkafka);
    if (!copy) {
        return NULL;
    }
    copy->resolve = client->resolve;
    if (!settings) {
        return copy;
    }
    copy->map_text = client->map_text ? strdup(client->map_text) : NULL;
    copy->map = client->map ? table_copy(client->map) : NULL;
    copy->pass = client->pass;
    memcpy(copy->map_problem, client->map_problem, sizeof copy->map_problem);
    memcpy(copy->unmapped_problem, client->unmapped_problem, sizeof copy->unmapped_problem);
    if (client->map && !copy->map) {
        client_free(copy);
        return NULL;
    }
    return copy;
}

void client_free(struct client *client) {
    pthread_mutex_destroy(&client->refused.lock);
    free(client->map_text);
    free(client->map);
    free(client->bootstrap);
    free(client);
}

static bool same(const char *one, const char *other) {
    return one && other && strcmp(one, other) == 0;
}

static void remember(char **place, const char *text) {
    free(*place);
    *place = text ? strdup(text) : NULL;
}

bool client_set_map(struct client *client, const char *text, char *words, size_t size) {
    if (same(client->map_text, text)) {
        return true;
    }
    free(client->map);
    client->map = NULL;
    client->map_problem[0] = '\0';
    remember(&client->map_text, text);
    if (!text || map_text_blank(text)) {
        return true;
    }
    client->map = map_text_parse(text, client->map_problem, sizeof client->map_problem);
    if (!client->map) {
        snprintf(words, size, "brokernat.map: %s", client->map_problem);
        /* Forgets the text, so that setting it again fails again. */
        remember(&client->map_text, NULL);
    }
    return client->map != NULL;
}

bool client_set_unmapped(struct client *client, const char *text, char *words, size_t size) {
    client->pass = false;
    client->unmapped_problem[0] = '\0';
    if (!text || unmapped_parse(text, &client->pass, client->unmapped_problem, sizeof client->unmapped_problem)) {
        return true;
    }
    snprintf(words, size, "%s", client->unmapped_problem);
    return false;
}

bool client_acts(const struct client *client) {
    return client->map || client->map_problem[0];
}

/* A value of the configuration, freed by free(); NULL if there is none. */
static char *conf_value(const struct client *client, const char *name) {
    size_t size = 0;
    if (client->rdkafka.conf_get(client->conf, name, NULL, &size) != RD_KAFKA_CONF_OK) {
        return NULL;
    }
    char *value = malloc(size);
    if (value && client->rdkafka.conf_get(client->conf, name, value, &size) != RD_KAFKA_CONF_OK) {
        free(value);
        value = NULL;
    }
    return value;
}

/* A callback of the application. librdkafka has no getter for it, but formats it with "%p". */
static void *conf_pointer(const struct client *client, const char *name) {
    void *pointer = NULL;
    char *value = conf_value(client, name);
    if (!value || sscanf(value, "%p", &pointer) != 1) {
        pointer = NULL;
    }
    free(value);
    return pointer;
}

/* Parses `host[:port]` or `SASL_SSL://host:port`; librdkafka reports invalid ones. */
static void add_bootstrap(struct client *client, struct text server) {
    struct endpoint *endpoint = &client->bootstrap[client->bootstrap_count];
    struct endpoint_text parts;
    struct fault unused;
    while (text_has(server, "://")) {
        server = text_from(server, 1);
        if (text_starts(server, "://")) {
            server = text_from(server, strlen("://"));
        }
    }
    endpoint->port = 9092; /* librdkafka's default */
    server = text_strip(server);
    struct text address, zone, port;
    char plain[ENDPOINT_TEXT];
    if (text_starts(server, "[") && text_split(server, '%', &address, &zone) && text_split(zone, ']', &zone, &port)) {
        snprintf(plain, sizeof plain, "%.*s]%.*s", TEXT(address), TEXT(port));
        server = text_of(plain);
    }
    if (endpoint_split(server, &parts, &unused) && host_parse(parts.host, &endpoint->host, &unused) &&
        (!parts.has_port || port_parse(parts.port, &endpoint->port, &unused))) {
        client->bootstrap_count++;
    }
}

static void find_bootstrap(struct client *client) {
    char *servers = conf_value(client, "metadata.broker.list"); /* `bootstrap.servers` is its alias */
    size_t most = 1;
    for (const char *at = servers; at && *at; at++) {
        most += *at == ',';
    }
    client->bootstrap = servers ? calloc(most, sizeof *client->bootstrap) : NULL;
    struct text rest = text_of(client->bootstrap ? servers : "");
    while (rest.size) {
        struct text server;
        text_split(rest, ',', &server, &rest);
        add_bootstrap(client, server);
    }
    free(servers);
}

void client_start(struct client *client, const rd_kafka_t *rk, const rd_kafka_conf_t *conf) {
    client->rk = rk;
    client->conf = conf;
    void *pointer = conf_pointer(client, "resolve_cb");
    resolve_cb *resolve;
    memcpy(&resolve, &pointer, sizeof pointer);
    /* A trampoline here is from a copy of a running client's configuration. */
    if (!is_trampoline(resolve)) {
        client->resolve = resolve;
    }
    free(client->bootstrap);
    client->bootstrap_count = 0;
    find_bootstrap(client);
}

static bool conf_is(const struct client *client, const char *name, const char *expected) {
    char *value = conf_value(client, name);
    bool is = value && strcmp(value, expected) == 0;
    free(value);
    return is;
}

void client_log(const struct client *client, int level, const char *words) {
    char *log_level = conf_value(client, "log_level");
    bool wanted = !log_level || level <= atoi(log_level);
    free(log_level);
    log_cb *log = client->rdkafka.log_print;
    /* With log.queue only the polling thread may call the application's callback (confluent-kafka asserts it), and the
     * queue has no public function, so stderr is used. */
    if (!conf_is(client, "log.queue", "true")) {
        void *pointer = conf_pointer(client, "log_cb");
        memcpy(&log, &pointer, sizeof pointer);
    }
    if (wanted && log) {
        log(client->rk, level, "BROKERNAT", words);
    }
}
