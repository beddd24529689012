#include "rdkafka.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *library_of(const void *code) {
    Dl_info place;
    if (!dladdr(code, &place)) {
        return NULL;
    }
    void *library = dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    /* dlopen does not find the program itself by its name. */
    return library ? library : dlopen(NULL, RTLD_LAZY);
}

bool rdkafka_find(void *library, struct rdkafka *rdkafka, char *words, size_t size) {
    static const struct {
        const char *name;
        size_t place;
    } FUNCTIONS[] = {
#define RDKAFKA_ENTRY(result, name, parameters) {"rd_kafka_" #name, offsetof(struct rdkafka, name)},
        RDKAFKA_FUNCTIONS(RDKAFKA_ENTRY)
#undef RDKAFKA_ENTRY
    };
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++) {
        void *found = library ? dlsym(library, FUNCTIONS[i].name) : NULL;
        if (!found) {
            snprintf(words, size, "brokernat needs librdkafka 2.0 or later as a shared library: no %s",
                     FUNCTIONS[i].name);
            return false;
        }
        memcpy((char *)rdkafka + FUNCTIONS[i].place, &found, sizeof found);
    }
    return true;
}
