/*
 * Says of an event whether it is the first of its kind. Full after some hundreds: a wildcard or a network can make very
 * many distinct translations, and the first ones tell the story.
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

/* Events are compared by a hash of their words. */
bool once_first(struct once *once, const char *event);

#endif
