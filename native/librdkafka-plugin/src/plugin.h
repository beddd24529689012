/*
 * Installs the plug-in in a configuration object, for plugin.library.paths and for the preloaded library.
 */
#ifndef BROKERNAT_PLUGIN_H
#define BROKERNAT_PLUGIN_H

#include "rdkafka.h"

/* Adds the properties `brokernat.map` and `brokernat.unmapped`. CONFLICT: they exist already. */
rd_kafka_resp_err_t plugin_install(rd_kafka_conf_t *conf, const struct rdkafka *rdkafka);

#endif
