/*
 * libbrokernat-rdkafka.so: the function that librdkafka calls for plugin.library.paths.
 */
#include "plugin.h"

#include <dlfcn.h>

__attribute__((visibility("default"))) rd_kafka_resp_err_t conf_init(
    rd_kafka_conf_t *conf, void **plugin_opaque, char *errstr, size_t errstr_size) {
    struct rdkafka rdkafka;
    *plugin_opaque = NULL;
    void *library = library_of(__builtin_return_address(0));
    bool found = rdkafka_find(library, &rdkafka, errstr, errstr_size);
    if (library) {
        dlclose(library); /* it stays loaded: it is the caller */
    }
    if (!found) {
        return RD_KAFKA_RESP_ERR__FAIL;
    }
    rd_kafka_resp_err_t error = plugin_install(conf, &rdkafka);
    return error == RD_KAFKA_RESP_ERR__CONFLICT ? RD_KAFKA_RESP_ERR_NO_ERROR : error;
}
