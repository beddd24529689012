/*
 * The value of `brokernat.map`: rules, or `file:/path` of a file with one rule per line.
 */
#ifndef BROKERNAT_MAP_TEXT_H
#define BROKERNAT_MAP_TEXT_H

#include "address_table.h"

/* Returns NULL with the reason in words. Freed by free(). */
struct address_table *map_text_parse(const char *text, char *words, size_t size);

/* Whether the text is only white space: the client uses no map. */
bool map_text_blank(const char *text);

/* Parses `fail` or `pass`; returns false with the reason in words. */
bool unmapped_parse(const char *text, bool *pass, char *words, size_t size);

#endif
