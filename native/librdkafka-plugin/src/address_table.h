/*
 * The rules in their order: the first match wins, and a translated endpoint is not translated again. Immutable after
 * parsing, so threads share it without a lock.
 */
#ifndef BROKERNAT_ADDRESS_TABLE_H
#define BROKERNAT_ADDRESS_TABLE_H

#include "rule.h"

struct address_table {
    size_t count;
    struct rule rules[];
};

enum { MAX_FAULTS = 32 };

/* The first faults of a text, in order. */
struct faults {
    size_t count;
    struct fault all[MAX_FAULTS];
};

/* Parses rules that `,` or line ends separate; `#` starts a comment up to the end of the line. Returns NULL if a rule
 * is wrong (with at least one fault) or without memory (with none). Freed by free(). */
struct address_table *address_table_parse(struct text text, struct faults *faults);

/* The first rule that matches, or NULL. */
const struct rule *address_table_find(const struct address_table *table, const struct endpoint *endpoint);

/* Writes all faults, separated by " | "; a template is valid notation, so the other faults come first. */
void faults_words(const struct faults *faults, char *words, size_t size);

#endif
