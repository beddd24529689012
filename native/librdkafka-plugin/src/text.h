/*
 * Slices of another text: no copies, no terminating zero, so that a rule is parsed in place.
 */
#ifndef BROKERNAT_TEXT_H
#define BROKERNAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    const char *at;
    size_t size;
};

/* Arguments for "%.*s". */
#define TEXT(text) (int)(text).size, (text).at

static inline struct text text_of(const char *zero_terminated) {
    return (struct text){zero_terminated, strlen(zero_terminated)};
}

static inline struct text text_from(struct text text, size_t start) {
    return (struct text){text.at + start, text.size - start};
}

static inline bool text_starts(struct text text, const char *start) {
    return text.size >= strlen(start) && memcmp(text.at, start, strlen(start)) == 0;
}

static inline bool text_ends(struct text text, const char *end) {
    return text.size >= strlen(end) && memcmp(text.at + text.size - strlen(end), end, strlen(end)) == 0;
}

static inline bool text_has(struct text text, const char *word) {
    for (; text.size >= strlen(word); text = text_from(text, 1)) {
        if (text_starts(text, word)) {
            return true;
        }
    }
    return false;
}

/* Splits at the first separator; without one the head is the whole text, the tail is empty and the result is false. */
static inline bool text_split(struct text text, char separator, struct text *head, struct text *tail) {
    const char *found = text.size ? memchr(text.at, separator, text.size) : NULL;
    size_t size = found ? (size_t)(found - text.at) : text.size;
    *head = (struct text){text.at, size};
    *tail = text_from(text, found ? size + 1 : size);
    return found != NULL;
}

/* Removes spaces and tabs around the text; no other character is a blank. */
static inline struct text text_strip(struct text text) {
    while (text.size && (text.at[0] == ' ' || text.at[0] == '\t')) {
        text = text_from(text, 1);
    }
    while (text.size && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\t')) {
        text.size--;
    }
    return text;
}

#endif
