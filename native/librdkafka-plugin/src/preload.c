/*
 * libbrokernat-preload.so: the plug-in for programs that cannot be configured. It replaces librdkafka's rd_kafka_new
 * and sets the map of BROKERNAT_MAP (rules or file:/path) and the value of BROKERNAT_UNMAPPED (default `pass`, because
 * a program may connect to other clusters) in each configuration object just before the client is created.
 *
 * If the map cannot be applied, no client is created or the client does not connect, because it would send its login to
 * the advertised addresses. A client that names the plug-in itself is not changed. Programs that find rd_kafka_new by
 * dlsym (.NET, Ruby) or link librdkafka statically (Go, Rust) do not call this library.
 */
#include "map_text.h"
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef rd_kafka_t *new_t(int type, rd_kafka_conf_t *conf, char *errstr, size_t errstr_size);
typedef void *share_new_t(rd_kafka_conf_t *conf, char *errstr, size_t errstr_size);

/* The function of the library that the caller depends on. RTLD_NEXT does not find libraries loaded with RTLD_LOCAL,
 * such as Python's extension modules, and may find another librdkafka. */
static void *next(const char *name, void *self, const void *caller) {
    void *library = library_of(caller);
    void *found = library ? dlsym(library, name) : NULL;
    if (library) {
        dlclose(library);
    }
    return found && found != self ? found : dlsym(RTLD_NEXT, name);
}

/* Compares the file name: librdkafka compares interceptors of one name by their functions, which differ here. */
static bool names_the_plugin(const rd_kafka_conf_t *conf, const struct rdkafka *rdkafka) {
    char paths[4096];
    size_t size = sizeof paths;
    return rdkafka->conf_get(conf, "plugin.library.paths", paths, &size) == RD_KAFKA_CONF_OK &&
           strstr(paths, "libbrokernat-rdkafka");
}

/* The arguments of a new client. */
struct making {
    struct rdkafka rdkafka;
    rd_kafka_conf_t *conf;
    bool ours; /* the program passed none */
};

/* Returns false with the reason in words if no client may be created. */
static bool add_map(struct making *making, const void *real, char *words, size_t size) {
    const char *map = getenv("BROKERNAT_MAP");
    const char *unmapped = getenv("BROKERNAT_UNMAPPED");
    const struct rdkafka *rdkafka = &making->rdkafka;
    char problem[512];
    if (!unmapped || !*unmapped) {
        unmapped = "pass";
    }
    if (!map) {
        return true;
    }
    if (map_text_blank(map)) {
        snprintf(words, size, "brokernat: BROKERNAT_MAP has no rule and BROKERNAT_UNMAPPED is fail; unset both to use no map");
        return strcmp(unmapped, "fail") != 0;
    }
    void *library = library_of(real);
    bool found = rdkafka_find(library, &making->rdkafka, problem, sizeof problem);
    if (library) {
        dlclose(library);
    }
    if (!found) {
        snprintf(words, size, "brokernat: BROKERNAT_MAP cannot be applied: %s", problem);
        return false;
    }
    if (!making->conf) {
        making->conf = rdkafka->conf_new();
        making->ours = true;
    }
    if (names_the_plugin(making->conf, rdkafka)) {
        return true;
    }
    /* CONFLICT: it is installed already, in an object that did not become a client or in the original of this copy. */
    rd_kafka_resp_err_t error = plugin_install(making->conf, rdkafka);
    if (error && error != RD_KAFKA_RESP_ERR__CONFLICT) {
        snprintf(words, size, "brokernat: BROKERNAT_MAP cannot be applied: librdkafka's error %d", error);
        return false;
    }
    if (rdkafka->conf_set(making->conf, "brokernat.map", map, problem, sizeof problem) ||
        rdkafka->conf_set(making->conf, "brokernat.unmapped", unmapped, problem, sizeof problem)) {
        fprintf(stderr, "[brokernat] BROKERNAT_MAP cannot be used, no connection is made: %s\n", problem);
    }
    return true;
}

/* A client owns its configuration. Without a client, we destroy ours. */
static void *made(const struct making *making, void *client) {
    if (!client && making->ours) {
        making->rdkafka.conf_destroy(making->conf);
    }
    return client;
}

EXPORTED rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *conf, char *errstr, size_t errstr_size) {
    void *found = next("rd_kafka_new", (void *)rd_kafka_new, __builtin_return_address(0));
    struct making making = {.conf = conf};
    if (!found) {
        snprintf(errstr, errstr_size, "brokernat: librdkafka's rd_kafka_new is not found; run without LD_PRELOAD");
        return NULL;
    }
    bool may = add_map(&making, found, errstr, errstr_size);
    return made(&making, may ? ((new_t *)found)(type, making.conf, errstr, errstr_size) : NULL);
}

EXPORTED void *rd_kafka_share_consumer_new(rd_kafka_conf_t *conf, char *errstr, size_t errstr_size) {
    void *found = next("rd_kafka_share_consumer_new", (void *)rd_kafka_share_consumer_new, __builtin_return_address(0));
    struct making making = {.conf = conf};
    if (!found) {
        snprintf(errstr, errstr_size, "brokernat: this librdkafka has no share consumer");
        return NULL;
    }
    bool may = add_map(&making, found, errstr, errstr_size);
    return made(&making, may ? ((share_new_t *)found)(making.conf, errstr, errstr_size) : NULL);
}
