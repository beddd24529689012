/*
 * Hosts and endpoints in canonical form: names in lower case without a final dot, addresses as bytes. If the last label
 * is a number, the text must be a valid IPv4 address: resolvers interpret `10.1` differently, so it is not accepted as
 * a name.
 */
#ifndef BROKERNAT_ENDPOINT_H
#define BROKERNAT_ENDPOINT_H

#include "fault.h"
#include "ip.h"
#include "text.h"

enum { HOST_TEXT = 256, ENDPOINT_TEXT = HOST_TEXT + 8 };

struct host {
    uint8_t size; /* of the address: IPV4, IPV6, or 0 for a name */
    uint8_t address[IPV6];
    char text[HOST_TEXT]; /* canonical, without brackets */
};

struct endpoint {
    struct host host;
    uint16_t port;
};

/* A name, an IPv4 address or an IPv6 address without brackets. */
bool host_parse(struct text text, struct host *host, struct fault *fault);
bool host_parse_v6(struct text text, struct host *host, struct fault *fault);
/* A host that librdkafka requests; an invalid one becomes a name that no rule matches. The zone of an IPv6 address
 * (`fe80::1%eth0`) is local to this machine, so it is not compared. */
void host_told(struct text text, struct host *host);
void host_of_address(const uint8_t *address, size_t size, struct host *host);
bool host_equal(const struct host *one, const struct host *other);

/* A decimal from 1 to 65535 without leading zeros. */
bool port_parse(struct text text, uint16_t *port, struct fault *fault);

/* The parts of an endpoint: the host unchecked, IPv6 without brackets (then `v6`), the text of the port. */
struct endpoint_text {
    struct text host, port;
    bool v6, has_port;
};
bool endpoint_split(struct text text, struct endpoint_text *parts, struct fault *fault);
/* Parses `host:port` or `[IPv6]:port`, with or without blanks around it. */
bool endpoint_parse(struct text text, struct endpoint *endpoint, struct fault *fault);
bool endpoint_equal(const struct endpoint *one, const struct endpoint *other);
/* The text as in a rule; port 0 is omitted. */
void endpoint_format(const struct host *host, uint16_t port, char text[static ENDPOINT_TEXT]);

#endif
