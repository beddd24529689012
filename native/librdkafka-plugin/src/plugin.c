/*
 * The interceptors of a configuration object.
 *
 * librdkafka copies a configuration in these steps: it calls on_conf_dup, then conf_init of each plug-in again, then
 * sets again all properties that interceptors accepted, and ignores errors. So on_conf_dup copies the settings,
 * conf_init finds the interceptors already installed, and setting a property to its current value does nothing.
 *
 * The configuration of a running client (rd_kafka_conf) has that client's trampoline as its resolver, and so does a
 * copy of it, because on_conf_dup is called before librdkafka copies the resolver. So on_conf_dup copies the
 * application's own resolver, also with a filter and without a map, and a client of the copy uses it.
 */
#include "plugin.h"

#include "trampolines.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

static const char NAME[] = "brokernat";

static rd_kafka_conf_res_t on_conf_set(
    rd_kafka_conf_t *conf, const char *name, const char *value, char *errstr, size_t errstr_size, void *ic_opaque) {
    char words[1024];
    bool right;
    (void)conf;
    if (strcmp(name, "brokernat.map") == 0) {
        right = client_set_map(ic_opaque, value, words, sizeof words);
    } else if (strcmp(name, "brokernat.unmapped") == 0) {
        right = client_set_unmapped(ic_opaque, value, words, sizeof words);
    } else {
        return RD_KAFKA_CONF_UNKNOWN;
    }
    if (right) {
        return RD_KAFKA_CONF_OK;
    }
    if (errstr) {
        snprintf(errstr, errstr_size, "%s", words);
    }
    return RD_KAFKA_CONF_INVALID;
}

static rd_kafka_resp_err_t on_new(
    rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *ic_opaque, char *errstr, size_t errstr_size) {
    struct client *client = ic_opaque;
    (void)errstr, (void)errstr_size;
    client_start(client, rk, conf);
    resolve_cb *resolve = client_acts(client) ? trampoline_take(client) : client->resolve;
    if (resolve == refuse_all) {
        char words[160];
        snprintf(words, sizeof words,
                 "refused: %d clients with a brokernat.map are open in this process, and more cannot be served",
                 TRAMPOLINES);
        client_log(client, LOG_ERR, words);
    }
    /* The client's own copy of the configuration; its callbacks are read when the client connects. */
    client->rdkafka.conf_set_resolve_cb((rd_kafka_conf_t *)conf, resolve);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_conf_destroy(void *ic_opaque) {
    trampoline_return(ic_opaque);
    client_free(ic_opaque);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t install(rd_kafka_conf_t *conf, struct client *client);

static rd_kafka_resp_err_t on_conf_dup(rd_kafka_conf_t *new_conf, const rd_kafka_conf_t *old_conf,
                                       size_t filter_count, const char **filter, void *ic_opaque) {
    (void)old_conf, (void)filter;
    /* librdkafka sets again the properties that a filter keeps. */
    return install(new_conf, client_copy(ic_opaque, filter_count == 0));
}

static rd_kafka_resp_err_t install(rd_kafka_conf_t *conf, struct client *client) {
    if (!client) {
        return RD_KAFKA_RESP_ERR__FAIL;
    }
    const struct rdkafka *rdkafka = &client->rdkafka;
    rd_kafka_resp_err_t error = rdkafka->conf_interceptor_add_on_conf_set(conf, NAME, on_conf_set, client);
    if (error) {
        client_free(client);
        return error;
    }
    rdkafka->conf_interceptor_add_on_conf_dup(conf, NAME, on_conf_dup, client);
    rdkafka->conf_interceptor_add_on_conf_destroy(conf, NAME, on_conf_destroy, client);
    rdkafka->conf_interceptor_add_on_new(conf, NAME, on_new, client);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t plugin_install(rd_kafka_conf_t *conf, const struct rdkafka *rdkafka) {
    return install(conf, client_new(rdkafka));
}
