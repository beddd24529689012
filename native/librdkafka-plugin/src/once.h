/*
 * Returns whether an event is the first of its kind. After 512 kinds it returns false, because a wildcard or a network
 * can make very many distinct translations.
 */
#ifndef BROKERNAT_ONCE_H
#define BROKERNAT_ONCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct once {
    pthread_mutex_t lock;
    size_t count;
    uint64_t seen[512];
};

#define ONCE_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Compares events by a hash of their text. */
bool once_first(struct once *once, const char *event);

#endif
