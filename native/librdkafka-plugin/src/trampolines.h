/*
 * A resolve callback of its own for each client.
 *
 * librdkafka hands the callback the application's opaque, which is not ours to replace, so nothing in the call says
 * which client asks; which function was called does. The pool is fixed at build time, because making functions at run
 * time needs memory that is writable and executable, which hardened hosts forbid.
 */
#ifndef BROKERNAT_TRAMPOLINES_H
#define BROKERNAT_TRAMPOLINES_H

#include "client.h"

enum { TRAMPOLINES = 1024 };

/* A callback that belongs to this client until it is returned; `refuse_all` where all are taken. A client has at most
 * one. */
resolve_cb *trampoline_take(struct client *client);
/* Whose call it is cannot be known, so nothing is dialled. */
resolve_cb refuse_all;
/* Whether this is a callback of ours and not of the application. */
bool is_trampoline(resolve_cb *resolve);
/* Does nothing for a client that has none. */
void trampoline_return(const struct client *client);

#endif
