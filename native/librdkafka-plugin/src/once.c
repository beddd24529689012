#include "once.h"

/* FNV-1a. */
static uint64_t hash(const char *words) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *words; words++) {
        hash = (hash ^ (unsigned char)*words) * 0x100000001b3u;
    }
    return hash;
}

bool once_first(struct once *once, const char *event) {
    uint64_t key = hash(event);
    pthread_mutex_lock(&once->lock);
    bool first = once->count < sizeof once->seen / sizeof once->seen[0];
    for (size_t i = 0; first && i < once->count; i++) {
        first = once->seen[i] != key;
    }
    if (first) {
        once->seen[once->count++] = key;
    }
    pthread_mutex_unlock(&once->lock);
    return first;
}
