/*
 * A separate resolve callback for each client.
 *
 * librdkafka passes the application's opaque to the callback, and we must not replace it. So the arguments do not
 * identify the client; the called function does. The pool is fixed at build time, because creating functions at run
 * time needs memory that is writable and executable, which hardened hosts forbid.
 */
#ifndef BROKERNAT_TRAMPOLINES_H
#define BROKERNAT_TRAMPOLINES_H

#include "client.h"

enum { TRAMPOLINES = 1024 };

/* A callback for this client until it is returned; `refuse_all` if all are in use. A client has at most one. */
resolve_cb *trampoline_take(struct client *client);
/* Refuses every endpoint, because the client of the call is unknown. */
resolve_cb refuse_all;
/* Whether this callback is ours and not the application's. */
bool is_trampoline(resolve_cb *resolve);
/* Does nothing for a client without one. */
void trampoline_return(const struct client *client);

#endif
