/*
 * What `brokernat.map` holds: rules, or `file:/path` of a file with one rule a line.
 */
#ifndef BROKERNAT_MAP_TEXT_H
#define BROKERNAT_MAP_TEXT_H

#include "address_table.h"

/* NULL with the reason in words. Freed by free(). */
struct address_table *map_text_parse(const char *text, char *words, size_t size);

/* Whether there is nothing but white space: a client that opts out. */
bool map_text_blank(const char *text);

/* `fail` or `pass`; false with the reason in words. */
bool unmapped_parse(const char *text, bool *pass, char *words, size_t size);

#endif
