/*
 * A client without a configuration object, as old programs make it: `bare BROKERS` connects until its input ends.
 */
#include "../src/rdkafka.h"

#include <poll.h>
#include <stdio.h>

rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *, char *errstr, size_t);
int rd_kafka_brokers_add(rd_kafka_t *, const char *brokers);
int rd_kafka_poll(rd_kafka_t *, int milliseconds);
void rd_kafka_destroy(rd_kafka_t *);

int main(int count, char **arguments) {
    char words[512];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    rd_kafka_t *rk = rd_kafka_new(0, NULL, words, sizeof words);
    if (!rk || count < 2) {
        fprintf(stderr, "rd_kafka_new: %s\n", rk ? "usage: bare BROKERS" : words);
        return 1;
    }
    rd_kafka_brokers_add(rk, arguments[1]);
    while (poll(&input, 1, 0) == 0) {
        rd_kafka_poll(rk, 10);
    }
    rd_kafka_destroy(rk);
    puts("done");
    return 0;
}
