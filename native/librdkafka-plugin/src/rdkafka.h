/*
 * The part of librdkafka's public interface that is used here, and its lookup.
 *
 * Nothing is linked: the plug-in must use the librdkafka that loads it. A process may have several, and a Python wheel
 * hides its own from the global scope. So the functions are looked up in the file that contains the caller's address.
 * The declarations are copied from rdkafka.h (the same in 2.0 to 2.15), so that the build needs no header.
 */
#ifndef BROKERNAT_RDKAFKA_H
#define BROKERNAT_RDKAFKA_H

#include <stdbool.h>
#include <stddef.h>

struct addrinfo;
typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;

typedef enum { RD_KAFKA_CONF_UNKNOWN = -2, RD_KAFKA_CONF_INVALID = -1, RD_KAFKA_CONF_OK = 0 } rd_kafka_conf_res_t;

typedef enum {
    RD_KAFKA_RESP_ERR__FAIL = -196,
    RD_KAFKA_RESP_ERR__CONFLICT = -173,
    RD_KAFKA_RESP_ERR_NO_ERROR = 0,
} rd_kafka_resp_err_t;

/* Like getaddrinfo(3); a call without node, service and hints frees the addresses. The opaque is the application's. */
typedef int resolve_cb(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **addresses,
                       void *opaque);
typedef void log_cb(const rd_kafka_t *rk, int level, const char *facility, const char *words);

typedef rd_kafka_conf_res_t on_conf_set_t(
    rd_kafka_conf_t *conf, const char *name, const char *value, char *errstr, size_t errstr_size, void *ic_opaque);
typedef rd_kafka_resp_err_t on_conf_dup_t(rd_kafka_conf_t *new_conf, const rd_kafka_conf_t *old_conf,
                                          size_t filter_count, const char **filter, void *ic_opaque);
typedef rd_kafka_resp_err_t on_conf_destroy_t(void *ic_opaque);
typedef rd_kafka_resp_err_t on_new_t(
    rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *ic_opaque, char *errstr, size_t errstr_size);

/* result, name without its prefix, parameters */
#define RDKAFKA_FUNCTIONS(X)                                                                                           \
    X(rd_kafka_conf_t *, conf_new, (void))                                                                             \
    X(void, conf_destroy, (rd_kafka_conf_t *))                                                                         \
    X(rd_kafka_conf_res_t, conf_get, (const rd_kafka_conf_t *, const char *name, char *value, size_t *size))           \
    X(rd_kafka_conf_res_t, conf_set, (rd_kafka_conf_t *, const char *name, const char *value, char *errstr, size_t))   \
    X(void, conf_set_resolve_cb, (rd_kafka_conf_t *, resolve_cb *))                                                    \
    X(rd_kafka_resp_err_t, conf_interceptor_add_on_conf_set,                                                           \
      (rd_kafka_conf_t *, const char *ic_name, on_conf_set_t *, void *ic_opaque))                                      \
    X(rd_kafka_resp_err_t, conf_interceptor_add_on_conf_dup,                                                           \
      (rd_kafka_conf_t *, const char *ic_name, on_conf_dup_t *, void *ic_opaque))                                      \
    X(rd_kafka_resp_err_t, conf_interceptor_add_on_conf_destroy,                                                       \
      (rd_kafka_conf_t *, const char *ic_name, on_conf_destroy_t *, void *ic_opaque))                                  \
    X(rd_kafka_resp_err_t, conf_interceptor_add_on_new,                                                                \
      (rd_kafka_conf_t *, const char *ic_name, on_new_t *, void *ic_opaque))                                           \
    X(void, log_print, (const rd_kafka_t *, int level, const char *facility, const char *words))

struct rdkafka {
#define RDKAFKA_MEMBER(result, name, parameters) result(*name) parameters;
    RDKAFKA_FUNCTIONS(RDKAFKA_MEMBER)
#undef RDKAFKA_MEMBER
};

/* The library or program that contains the code, as a handle of dlopen; NULL if there is none. Closed by dlclose. */
void *library_of(const void *code);

/* Returns false with the reason in words if the library is not librdkafka 2.0 or later. */
bool rdkafka_find(void *library, struct rdkafka *rdkafka, char *words, size_t size);

#endif
