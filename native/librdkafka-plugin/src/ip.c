#include "ip.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 8 };

int ip_decimal(struct text text, size_t digits) {
    if (text.size == 0 || text.size > digits || (text.size > 1 && text.at[0] == '0')) {
        return -1;
    }
    int value = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') {
            return -1;
        }
        value = 10 * value + (text.at[i] - '0');
    }
    return value;
}

bool ip_parse_v4(struct text text, uint8_t address[static IPV4]) {
    for (int i = 0; i < IPV4; i++) {
        struct text part;
        bool more = text_split(text, '.', &part, &text);
        int value = ip_decimal(part, 3);
        if (value < 0 || value > 255 || more != (i < IPV4 - 1)) {
            return false;
        }
        address[i] = (uint8_t)value;
    }
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static int hexadecimal(struct text text) {
    if (text.size == 0 || text.size > 4) {
        return -1;
    }
    int value = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = hex_digit(text.at[i]);
        if (digit < 0) {
            return -1;
        }
        value = 16 * value + digit;
    }
    return value;
}

/* Parses groups between single colons to bytes; returns the number of bytes, or -1. */
static int parse_groups(struct text text, bool decimals_allowed, uint8_t bytes[static IPV6]) {
    int size = 0;
    for (bool more = text.size > 0; more;) {
        struct text part;
        more = text_split(text, ':', &part, &text);
        if (!more && decimals_allowed && text_has(part, ".") && size + IPV4 <= IPV6) {
            return ip_parse_v4(part, bytes + size) ? size + IPV4 : -1;
        }
        int group = hexadecimal(part);
        if (group < 0 || size + 2 > IPV6) {
            return -1;
        }
        bytes[size++] = (uint8_t)(group >> 8);
        bytes[size++] = (uint8_t)group;
    }
    return size;
}

bool ip_parse_v6(struct text text, uint8_t address[static IPV6]) {
    size_t gap = 0;
    while (gap + 1 < text.size && memcmp(text.at + gap, "::", 2) != 0) {
        gap++;
    }
    if (gap + 1 >= text.size) {
        return parse_groups(text, true, address) == IPV6;
    }
    uint8_t head[IPV6], tail[IPV6];
    int head_size = parse_groups((struct text){text.at, gap}, false, head);
    int tail_size = parse_groups(text_from(text, gap + 2), true, tail);
    /* `::` replaces one or more groups. */
    if (head_size < 0 || tail_size < 0 || head_size + tail_size >= IPV6) {
        return false;
    }
    memset(address, 0, IPV6);
    memcpy(address, head, (size_t)head_size);
    memcpy(address + IPV6 - tail_size, tail, (size_t)tail_size);
    return true;
}

static void format_v6(const uint8_t *address, char *text) {
    unsigned groups[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
        groups[i] = (unsigned)address[2 * i] << 8 | address[2 * i + 1];
    }
    /* RFC 5952 4.2: replaces the longest run of zero groups, the first of equal ones, never a single group. */
    int start = -1, length = 1;
    for (int i = 0; i < GROUPS; i++) {
        int end = i;
        while (end < GROUPS && groups[end] == 0) {
            end++;
        }
        if (end - i > length) {
            start = i;
            length = end - i;
        }
    }
    char *at = text;
    for (int i = 0; i < GROUPS; i++) {
        if (i == start) {
            at += sprintf(at, "::");
            i += length - 1;
        } else {
            at += sprintf(at, "%s%x", i == 0 || i == start + length ? "" : ":", groups[i]);
        }
    }
}

void ip_format(const uint8_t *address, size_t size, char text[static IP_TEXT]) {
    static const uint8_t MAPPED[12] = {[10] = 0xff, [11] = 0xff};
    bool mapped = size == IPV6 && memcmp(address, MAPPED, sizeof MAPPED) == 0;
    if (size == IPV4 || mapped) {
        const uint8_t *v4 = mapped ? address + sizeof MAPPED : address;
        snprintf(text, IP_TEXT, "%s%d.%d.%d.%d", mapped ? "::ffff:" : "", v4[0], v4[1], v4[2], v4[3]);
    } else {
        format_v6(address, text);
    }
}
