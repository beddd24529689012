/*
 * IP addresses as bytes and as canonical text: strict decimals for IPv4, RFC 5952 for IPv6.
 *
 * The C library is not used, because inet_aton accepts `10.1` and `010.0.0.1`, the strictness of inet_pton differs
 * between C libraries, and inet_ntop writes `::102:304` as `::1.2.3.4`.
 */
#ifndef BROKERNAT_IP_H
#define BROKERNAT_IP_H

#include "text.h"

#include <stdint.h>

enum { IP_TEXT = 46, IPV4 = 4, IPV6 = 16 };

/* A decimal of at most `digits` ASCII digits without leading zeros, or -1. */
int ip_decimal(struct text text, size_t digits);

/* Whether the text is four decimals without leading zeros. */
bool ip_parse_v4(struct text text, uint8_t address[static IPV4]);

/* No brackets, no zone; the last two groups may be an IPv4 address. */
bool ip_parse_v6(struct text text, uint8_t address[static IPV6]);

/* The canonical text of IPV4 or IPV6 bytes, without brackets. */
void ip_format(const uint8_t *address, size_t size, char text[static IP_TEXT]);

#endif
