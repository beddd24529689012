#!/bin/sh
# Stands for Kafka's own: a class by its name, with the class path of the distribution.
exec "$JAVA" $KAFKA_OPTS -cp "$CLASSPATH" "$@"
