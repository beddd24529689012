#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    const char *hint;
} FAULTS[] = {
#define BROKERNAT_ENTRY(name, kind, hint) [FAULT_##name] = {kind, hint},
    BROKERNAT_FAULTS(BROKERNAT_ENTRY)
#undef BROKERNAT_ENTRY
};

const char *fault_name(enum fault_kind kind) {
    return FAULTS[kind].name;
}

bool fault_with(struct fault *fault, enum fault_kind kind, const char *format, ...) {
    /* The user's text may be very long; this limit leaves room for the hint. */
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fault->kind = kind;
    snprintf(fault->words, sizeof fault->words, "%s; %s", what, FAULTS[kind].hint);
    return false;
}
