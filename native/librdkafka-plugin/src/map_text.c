#include "map_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A rules file is small; the limit protects the memory if the path is an endless file. */
enum { MAX_FILE = 4 << 20 };

static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

static struct text trimmed(const char *text) {
    static const char WHITE[] = " \t\r\n";
    struct text rest = text_of(text + strspn(text, WHITE));
    while (rest.size && strchr(WHITE, rest.at[rest.size - 1])) {
        rest.size--;
    }
    return rest;
}

bool map_text_blank(const char *text) {
    return trimmed(text).size == 0;
}

bool unmapped_parse(const char *text, bool *pass, char *words, size_t size) {
    struct text choice = trimmed(text);
    *pass = choice.size == 4 && text_starts(choice, "pass");
    if (*pass || (choice.size == 4 && text_starts(choice, "fail"))) {
        return true;
    }
    snprintf(words, size, "brokernat.unmapped is `fail` or `pass`, not `%.*s`", TEXT(choice));
    return false;
}

/* The content, freed by free(), or NULL with errno. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rbe");
    char *content = file ? malloc(MAX_FILE + 1) : NULL;
    *size = content ? fread(content, 1, MAX_FILE + 1, file) : 0;
    int error = content && *size > MAX_FILE ? EFBIG : file && content && !ferror(file) ? 0 : errno;
    if (file) {
        fclose(file);
    }
    if (error) {
        free(content);
        errno = error;
        return NULL;
    }
    return content;
}

/* Whether a line is a list item, a document's start, or only a key. */
static bool looks_like_yaml(struct text content) {
    while (content.size) {
        struct text line;
        text_split(content, '\n', &line, &content);
        line = text_strip(line);
        if (text_starts(line, "- ") || text_starts(line, "---") || (text_ends(line, ":") && !text_has(line, "="))) {
            return true;
        }
    }
    return false;
}

/* Well-formed UTF-8 (Unicode, table 3-7): no overlong forms, surrogates or values over U+10FFFF. */
static bool is_utf8(struct text content) {
    const unsigned char *at = (const unsigned char *)content.at, *end = at + content.size;
    while (at < end) {
        unsigned char lead = *at++;
        int more = lead < 0x80 ? 0 : lead >= 0xc2 && lead <= 0xdf ? 1 : (lead & 0xf0) == 0xe0 ? 2
                   : lead >= 0xf0 && lead <= 0xf4 ? 3 : -1;
        if (more < 0 || end - at < more ||
            (more && ((lead == 0xe0 && *at < 0xa0) || (lead == 0xed && *at > 0x9f) || (lead == 0xf0 && *at < 0x90) ||
                      (lead == 0xf4 && *at > 0x8f)))) {
            return false;
        }
        for (; more; more--) {
            if ((*at++ & 0xc0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

static struct address_table *parse(struct text rules, const char *path, char *words, size_t size) {
    struct faults *faults = malloc(sizeof *faults);
    struct address_table *table = faults ? address_table_parse(rules, faults) : NULL;
    if (!faults || (!table && !faults->count)) {
        snprintf(words, size, "out of memory");
    } else if (!table && path && looks_like_yaml(rules)) {
        snprintf(words, size,
                 "`%s` looks like YAML, but a rules file has one rule a line; "
                 "write it with `brokernat map export --cluster NAME`",
                 path);
    } else if (!table) {
        int start = path ? snprintf(words, size, "`%s`: ", path) : 0;
        if ((size_t)start < size) {
            faults_words(faults, words + start, size - (size_t)start);
        }
    } else if (!table->count) {
        snprintf(words, size, "%s%s%s has no rule; write `advertised = reachable`, or leave brokernat.map empty to use no map",
                 path ? "the rules file `" : "the text", path ? path : "", path ? "`" : "");
        free(table);
        table = NULL;
    }
    free(faults);
    return table;
}

struct address_table *map_text_parse(const char *text, char *words, size_t size) {
    struct text reference = trimmed(text);
    if (!text_starts(reference, "file:")) {
        return parse(text_of(text), NULL, words, size);
    }
    size_t content_size;
    char *path = strndup(reference.at + strlen("file:"), reference.size - strlen("file:"));
    char *content = path ? read_file(path, &content_size) : NULL;
    struct address_table *table = NULL;
    if (!content) {
        snprintf(words, size,
                 "the rules file `%s` cannot be read: %s; write it with `brokernat map export`, "
                 "readable for the user of this program",
                 path ? path : "", strerror(errno));
    } else {
        struct text rules = {content, content_size};
        if (!is_utf8(rules)) {
            snprintf(words, size, "the rules file `%s` cannot be read: it is not UTF-8 text; save it as UTF-8", path);
        } else {
            table = parse(text_from(rules, text_starts(rules, BYTE_ORDER_MARK) ? strlen(BYTE_ORDER_MARK) : 0), path, words,
                          size);
        }
    }
    free(content);
    free(path);
    return table;
}
