/*
 * C11's threads by POSIX's, for programs under ThreadSanitizer: it knows the calls of POSIX alone, and librdkafka makes
 * the others. In glibc the types are the same.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    thrd_start_t run;
    void *argument;
};

static void *run(void *pointer) {
    struct start start = *(struct start *)pointer;
    free(pointer);
    return (void *)(intptr_t)start.run(start.argument);
}

static int result(int error) {
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    struct start *start = malloc(sizeof *start);
    *start = (struct start){function, argument};
    return result(pthread_create(thread, NULL, run, start));
}

int thrd_join(thrd_t thread, int *code) {
    void *value;
    int error = pthread_join(thread, &value);
    if (code) {
        *code = (int)(intptr_t)value;
    }
    return result(error);
}

void call_once(once_flag *flag, void (*function)(void)) {
    pthread_once((pthread_once_t *)flag, function);
}

int mtx_init(mtx_t *mutex, int type) {
    (void)type; /* librdkafka's are plain */
    return result(pthread_mutex_init((pthread_mutex_t *)mutex, NULL));
}

int mtx_lock(mtx_t *mutex) {
    return result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex) {
    return result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

void mtx_destroy(mtx_t *mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int cnd_init(cnd_t *condition) {
    return result(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

int cnd_signal(cnd_t *condition) {
    return result(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition) {
    return result(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return result(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    return result(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}

void cnd_destroy(cnd_t *condition) {
    pthread_cond_destroy((pthread_cond_t *)condition);
}
