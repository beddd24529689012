#include "endpoint.h"

#include <stdio.h>

enum { MAX_NAME = 253, MAX_LABEL = 63 }; /* RFC 1035 2.3.4: 255 octets on the wire */

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_label(struct text text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = lower(text.at[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')) {
            return false;
        }
    }
    return text.size > 0 && text.size <= MAX_LABEL;
}

static bool ends_in_a_number(struct text name) {
    size_t digits = 0;
    while (digits < name.size && name.at[name.size - 1 - digits] >= '0' && name.at[name.size - 1 - digits] <= '9') {
        digits++;
    }
    return digits > 0 && (digits == name.size || name.at[name.size - 1 - digits] == '.');
}

static void set_name(struct text name, struct host *host) {
    host->size = 0;
    size_t size = name.size < HOST_TEXT ? name.size : HOST_TEXT - 1;
    for (size_t i = 0; i < size; i++) {
        host->text[i] = lower(name.at[i]);
    }
    host->text[size] = '\0';
}

void host_of_address(const uint8_t *address, size_t size, struct host *host) {
    host->size = (uint8_t)size;
    memcpy(host->address, address, size);
    ip_format(address, size, host->text);
}

bool host_parse_v6(struct text text, struct host *host, struct fault *fault) {
    uint8_t address[IPV6];
    if (!ip_parse_v6(text, address)) {
        return fault_with(fault, FAULT_BAD_IPV6, "`%.*s` is not an IPv6 address", TEXT(text));
    }
    host_of_address(address, IPV6, host);
    return true;
}

bool host_parse(struct text text, struct host *host, struct fault *fault) {
    if (text_has(text, ":")) {
        return host_parse_v6(text, host, fault);
    }
    if (text.size == 0) {
        return fault_with(fault, FAULT_EMPTY_HOST, "the host is missing");
    }
    struct text name = {text.at, text.size - text_ends(text, ".")};
    if (ends_in_a_number(name)) {
        uint8_t address[IPV4];
        if (!ip_parse_v4(text, address)) {
            return fault_with(fault, FAULT_BAD_IPV4, "`%.*s` is not an IPv4 address", TEXT(text));
        }
        host_of_address(address, IPV4, host);
        return true;
    }
    bool labels = name.size <= MAX_NAME;
    struct text rest = name;
    for (bool more = true; more;) {
        struct text label;
        more = text_split(rest, '.', &label, &rest);
        labels = labels && is_label(label);
    }
    if (!labels) {
        return fault_with(fault, FAULT_BAD_HOST, "`%.*s` is not a host name", TEXT(text));
    }
    set_name(name, host);
    return true;
}

void host_told(struct text text, struct host *host) {
    struct fault unused;
    struct text address, zone;
    text_split(text, '%', &address, &zone);
    if (!host_parse(address, host, &unused)) {
        set_name(text, host);
    }
}

bool host_equal(const struct host *one, const struct host *other) {
    return strcmp(one->text, other->text) == 0;
}

bool port_parse(struct text text, uint16_t *port, struct fault *fault) {
    int value = ip_decimal(text, 5);
    if (value < 1 || value > UINT16_MAX) {
        return text.size ? fault_with(fault, FAULT_BAD_PORT, "`%.*s` is not a port", TEXT(text))
                         : fault_with(fault, FAULT_BAD_PORT, "the port after `:` is missing");
    }
    *port = (uint16_t)value;
    return true;
}

bool endpoint_split(struct text text, struct endpoint_text *parts, struct fault *fault) {
    struct text rest;
    *parts = (struct endpoint_text){0};
    if (text_starts(text, "[")) {
        struct host unused;
        bool closed = text_split(text_from(text, 1), ']', &parts->host, &rest);
        if (!closed || (rest.size && rest.at[0] != ':') || !text_has(parts->host, ":")) {
            return fault_with(fault, FAULT_BAD_IPV6, "`%.*s` is not an IPv6 address", TEXT(text));
        }
        parts->v6 = true;
        parts->has_port = rest.size > 0;
        parts->port = parts->has_port ? text_from(rest, 1) : rest;
        /* Checked here, before the port, like in all parsers. */
        return host_parse_v6(parts->host, &unused, fault);
    }
    parts->has_port = text_split(text, ':', &parts->host, &parts->port);
    if (text_has(parts->port, ":")) {
        return fault_with(fault, FAULT_BARE_IPV6, "`%.*s` has more than one colon", TEXT(text));
    }
    return true;
}

bool endpoint_parse(struct text text, struct endpoint *endpoint, struct fault *fault) {
    struct endpoint_text parts;
    text = text_strip(text);
    if (!endpoint_split(text, &parts, fault)) {
        return false;
    }
    if (!parts.has_port) {
        return fault_with(fault, FAULT_MISSING_PORT, "`%.*s` has no port", TEXT(text));
    }
    return port_parse(parts.port, &endpoint->port, fault) && host_parse(parts.host, &endpoint->host, fault);
}

bool endpoint_equal(const struct endpoint *one, const struct endpoint *other) {
    return one->port == other->port && host_equal(&one->host, &other->host);
}

void endpoint_format(const struct host *host, uint16_t port, char text[static ENDPOINT_TEXT]) {
    bool v6 = host->size == IPV6;
    int size = snprintf(text, ENDPOINT_TEXT, "%s%s%s", v6 ? "[" : "", host->text, v6 ? "]" : "");
    if (port) {
        snprintf(text + size, (size_t)(ENDPOINT_TEXT - size), ":%d", port);
    }
}
