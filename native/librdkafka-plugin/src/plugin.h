/*
 * What the plug-in does to a configuration object, for the two ways in: plugin.library.paths and the preloaded library.
 */
#ifndef BROKERNAT_PLUGIN_H
#define BROKERNAT_PLUGIN_H

#include "rdkafka.h"

/* From now on the object takes `brokernat.map` and `brokernat.unmapped`. CONFLICT: it does already. */
rd_kafka_resp_err_t plugin_install(rd_kafka_conf_t *conf, const struct rdkafka *rdkafka);

#endif
