#include "address_table.h"

#include <stdio.h>
#include <stdlib.h>

static struct text next_line(struct text *rest) {
    size_t size = 0;
    while (size < rest->size && rest->at[size] != '\n' && rest->at[size] != '\r') {
        size++;
    }
    struct text line = {rest->at, size};
    *rest = text_from(*rest, size);
    size_t end = text_starts(*rest, "\r\n") ? 2 : rest->size ? 1 : 0;
    *rest = text_from(*rest, end);
    return line;
}

/* The column of a position in a line of UTF-8, in characters. */
static int column(struct text line, const char *place) {
    int column = 1;
    for (const char *at = line.at; at < place; at++) {
        column += ((unsigned char)*at & 0xc0) != 0x80;
    }
    return column;
}

static void add_fault(struct faults *faults, const struct fault *fault, int line, int place, struct text rule) {
    if (faults->count < MAX_FAULTS) {
        struct fault *added = &faults->all[faults->count++];
        added->kind = fault->kind;
        int shown = rule.size > 80 ? 80 : (int)rule.size;
        snprintf(added->words, sizeof added->words, "line %d, column %d, rule `%.*s`: %.300s", line, place, shown,
                 rule.at, fault->words);
    }
}

static size_t most_rules(struct text text) {
    size_t rules = 1;
    for (size_t i = 0; i < text.size; i++) {
        rules += text.at[i] == ',' || text.at[i] == '\n' || text.at[i] == '\r';
    }
    return rules;
}

struct address_table *address_table_parse(struct text text, struct faults *faults) {
    faults->count = 0;
    struct address_table *table = malloc(sizeof *table + most_rules(text) * sizeof table->rules[0]);
    if (!table) {
        return NULL;
    }
    table->count = 0;
    for (int number = 1; text.size; number++) {
        struct text line = next_line(&text), rules, comment;
        text_split(line, '#', &rules, &comment);
        while (rules.size) {
            struct text entry;
            text_split(rules, ',', &entry, &rules);
            entry = text_strip(entry);
            struct fault fault;
            if (entry.size == 0) {
                continue;
            }
            if (rule_parse(entry, &table->rules[table->count], &fault)) {
                table->count++;
            } else {
                add_fault(faults, &fault, number, column(line, entry.at), entry);
            }
        }
    }
    if (faults->count) {
        free(table);
        return NULL;
    }
    return table;
}

const struct rule *address_table_find(const struct address_table *table, const struct endpoint *endpoint) {
    for (size_t i = 0; i < table->count; i++) {
        if (rule_matches(&table->rules[i], endpoint)) {
            return &table->rules[i];
        }
    }
    return NULL;
}

void faults_words(const struct faults *faults, char *words, size_t size) {
    size_t used = 0;
    words[0] = '\0';
    for (int templates = 0; templates <= 1; templates++) {
        for (size_t i = 0; i < faults->count; i++) {
            const struct fault *fault = &faults->all[i];
            if ((fault->kind == FAULT_NEEDS_NODE_ID) == templates && used < size) {
                int more = snprintf(words + used, size - used, "%s%s", used ? " | " : "", fault->words);
                used += (size_t)more;
            }
        }
    }
}
