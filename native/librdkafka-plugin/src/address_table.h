/*
 * Rules in order: the first match wins, and a translated endpoint is never looked up again. Immutable once parsed, so
 * threads share it without a lock.
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

/* Rules separated by `,` or line ends; `#` starts a comment that ends with its line. NULL where something is wrong
 * (with at least one fault) or where there is no memory (with none). Freed by free(). */
struct address_table *address_table_parse(struct text text, struct faults *faults);

/* The rule that decides, or NULL. */
const struct rule *address_table_find(const struct address_table *table, const struct endpoint *endpoint);

/* All faults in words, with " | " between them; a template is no mistake of notation, so what is one comes first. */
void faults_words(const struct faults *faults, char *words, size_t size);

#endif
