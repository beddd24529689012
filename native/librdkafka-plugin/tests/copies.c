/*
 * Clients of librdkafka that are made from copies of each other's configurations, on several threads at once, closed in
 * every order: `copies THREADS ROUNDS [PLUGIN]`. Without a plug-in the map is the one of a preloaded library.
 *
 * The application's resolver checks what it is asked for: each client's own reachable endpoint, translated once.
 */
#include "../src/rdkafka.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

rd_kafka_conf_t *rd_kafka_conf_new(void);
rd_kafka_conf_t *rd_kafka_conf_dup(const rd_kafka_conf_t *);
rd_kafka_conf_t *rd_kafka_conf_dup_filter(const rd_kafka_conf_t *, size_t count, const char **filter);
void rd_kafka_conf_destroy(rd_kafka_conf_t *);
rd_kafka_conf_res_t rd_kafka_conf_set(rd_kafka_conf_t *, const char *name, const char *value, char *errstr, size_t);
void rd_kafka_conf_set_opaque(rd_kafka_conf_t *, void *);
void rd_kafka_conf_set_resolve_cb(rd_kafka_conf_t *, resolve_cb *);
const rd_kafka_conf_t *rd_kafka_conf(rd_kafka_t *);
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *, char *errstr, size_t);
int rd_kafka_poll(rd_kafka_t *, int milliseconds);
void rd_kafka_destroy(rd_kafka_t *);

enum { CLIENTS = 4, PATIENCE = 120 };

static const char *plugin;
static int rounds;

struct client {
    rd_kafka_t *rk;
    const char *expected; /* what the bootstrap server kafka-1:9092 is by this client's map */
    atomic_int asked;
};

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "%s: %s\n", what, detail);
    _Exit(1);
}

static int resolve(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **addresses,
                   void *opaque) {
    struct client *client = opaque;
    struct addrinfo literal = *(hints ? hints : &(struct addrinfo){0});
    char endpoint[256];
    if (!node) {
        freeaddrinfo(*addresses);
        return 0;
    }
    snprintf(endpoint, sizeof endpoint, "%s:%s", node, service);
    if (strcmp(endpoint, client->expected) == 0) {
        client->asked++;
    } else if (strcmp(endpoint, "elsewhere:9092") != 0) { /* no rule names it, and `pass` lets it through */
        fprintf(stderr, "expected %s; ", client->expected);
        fail("dialled", endpoint);
    }
    literal.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    return getaddrinfo("127.0.0.1", "1", &literal, addresses);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char words[512];
    if (rd_kafka_conf_set(conf, name, value, words, sizeof words)) {
        fail(name, words);
    }
}

static rd_kafka_conf_t *configuration(void) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (plugin) {
        set(conf, "plugin.library.paths", plugin);
        set(conf, "brokernat.map", "kafka-1:9092=first:1,first:1=twice:1,second:1=twice:1");
        set(conf, "brokernat.unmapped", "pass");
    }
    set(conf, "bootstrap.servers", "kafka-1:9092,elsewhere:9092");
    set(conf, "log_level", "0");
    set(conf, "broker.address.ttl", "0");
    set(conf, "enable.sparse.connections", "false");
    set(conf, "reconnect.backoff.ms", "5");
    set(conf, "reconnect.backoff.max.ms", "10");
    rd_kafka_conf_set_resolve_cb(conf, resolve);
    return conf;
}

static void start(struct client *client, rd_kafka_conf_t *conf, const char *expected) {
    char words[512];
    client->expected = expected;
    client->asked = 0;
    rd_kafka_conf_set_opaque(conf, client);
    client->rk = rd_kafka_new(0, conf, words, sizeof words);
    if (!client->rk) {
        fail("rd_kafka_new", words);
    }
}

/* Until it has dialled twice more. */
static void wait_for(struct client *client) {
    time_t deadline = time(NULL) + PATIENCE;
    for (int before = client->asked; client->asked < before + 2;) {
        if (time(NULL) > deadline) {
            fail("never dialled", client->expected);
        }
        rd_kafka_poll(client->rk, 5);
    }
}

static void one_round(int number) {
    static const char *BROKERNAT[] = {"brokernat."}, *PLUGIN[] = {"plugin."};
    struct client clients[CLIENTS];
    start(&clients[0], configuration(), "first:1");
    const rd_kafka_conf_t *running = rd_kafka_conf(clients[0].rk);

    rd_kafka_conf_t *same = rd_kafka_conf_dup(running), *copy_of_copy = rd_kafka_conf_dup(same);
    rd_kafka_conf_t *other = number % 2 ? copy_of_copy : same, *unused = number % 2 ? same : copy_of_copy;
    rd_kafka_conf_t *without_map = rd_kafka_conf_dup_filter(running, 1, BROKERNAT);
    rd_kafka_conf_t *without_plugin = rd_kafka_conf_dup_filter(running, 1, PLUGIN);
    if (number % 3 == 0) { /* gone before any client is made of its copies */
        wait_for(&clients[0]);
        rd_kafka_destroy(clients[0].rk);
    }
    if (plugin) {
        set(other, "brokernat.map", "kafka-1:9092=second:1,first:1=twice:1");
    }
    start(&clients[1], other, plugin ? "second:1" : "first:1");
    start(&clients[2], without_map, plugin ? "kafka-1:9092" : "first:1");
    start(&clients[3], without_plugin, "first:1");
    if (number % 4 < 2) {
        rd_kafka_conf_destroy(unused);
        unused = NULL;
    }
    for (int i = number % 3 == 0 ? 1 : 0; i < CLIENTS; i++) {
        struct client *next = &clients[number % 5 < 3 ? i : (number % 3 == 0 ? CLIENTS : CLIENTS - 1) - i];
        wait_for(next);
        rd_kafka_destroy(next->rk);
    }
    if (unused) {
        rd_kafka_conf_destroy(unused);
    }
}

static void *work(void *first) {
    for (int number = 0; number < rounds; number++) {
        one_round(number + *(int *)first);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fail("usage", "copies THREADS ROUNDS [PLUGIN]");
    }
    int threads = atoi(arguments[1]);
    rounds = atoi(arguments[2]);
    plugin = arguments[3];
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    int *firsts = calloc((size_t)threads, sizeof *firsts);
    for (int i = 0; i < threads; i++) {
        firsts[i] = i + 1;
        pthread_create(&ids[i], NULL, work, &firsts[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    free(ids);
    free(firsts);
    puts("done");
    return 0;
}
