#!/bin/sh
# Stands for Kafka's own: a class by its name, with the class path of the distribution, for a JVM that lives for seconds.
exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $KAFKA_OPTS -cp "$CLASSPATH" "$@"
