/*
 * The notation at work, for tests that hold the languages against each other: lines of RULES<TAB>host:port in, lines of
 * CANONICAL<TAB>host:port, `-` or `!kind` out. A wrong map is answered by `-<TAB>` and `!kind` for each of its faults.
 */
#include "../src/address_table.h"

#include <stdio.h>
#include <stdlib.h>

/* In place: \n, \r, \t and \\ to what they stand for. */
static void unescape(char *text) {
    static const char ESCAPES[] = "nrt\\", MEANINGS[] = "\n\r\t\\";
    char *to = text;
    for (char *from = text; *from; from++) {
        const char *escape = *from == '\\' && from[1] ? strchr(ESCAPES, from[1]) : NULL;
        if (escape) {
            *to++ = MEANINGS[escape - ESCAPES];
            from++;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static void print_map(const struct address_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        char rule[RULE_TEXT];
        rule_format(&table->rules[i], rule);
        printf("%s%s", i ? "," : "", rule);
    }
}

static void print_translation(const struct address_table *table, const char *text) {
    struct endpoint endpoint, reachable;
    struct fault fault;
    char words[ENDPOINT_TEXT];
    if (!endpoint_parse(text_of(text), &endpoint, &fault)) {
        printf("\t!%s\n", fault_name(fault.kind));
        return;
    }
    const struct rule *rule = address_table_find(table, &endpoint);
    if (!rule) {
        printf("\t-\n");
        return;
    }
    rule_translate(rule, &endpoint, &reachable);
    endpoint_format(&reachable.host, reachable.port, words);
    printf("\t%s\n", words);
}

static void answer(char *line) {
    static struct faults faults;
    char *endpoint = strchr(line, '\t');
    if (!endpoint) {
        exit(2);
    }
    *endpoint++ = '\0';
    unescape(line);
    unescape(endpoint);
    struct address_table *table = address_table_parse(text_of(line), &faults);
    if (table) {
        print_map(table);
        print_translation(table, endpoint);
        free(table);
        return;
    }
    char words[2048];
    faults_words(&faults, words, sizeof words);
    printf("-\t");
    for (size_t i = 0; i < faults.count; i++) {
        printf("%s!%s", i ? " " : "", fault_name(faults.all[i].kind));
    }
    printf("\n");
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    while ((size = getline(&line, &room, stdin)) > 0) {
        if (line[size - 1] == '\n') {
            line[size - 1] = '\0';
        }
        answer(line);
    }
    free(line);
    return 0;
}
