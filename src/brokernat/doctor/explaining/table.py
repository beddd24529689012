"""All rows of the table of log lines. Rows of one family stand together; no line belongs to two of them."""

from __future__ import annotations

from brokernat.doctor.explaining import (
    aiokafka,
    brokers,
    java_calls,
    java_connections,
    java_disconnections,
    java_metadata,
    java_security,
    java_work,
    kafka_python,
    kafka_python_work,
    kafkajs,
    kafkajs_answers,
    librdkafka_connections,
    librdkafka_security,
    librdkafka_work,
    own,
    python_common,
    python_tls,
    spark,
    spring,
)
from brokernat.doctor.explaining.symptom import Symptom

SYMPTOMS: tuple[Symptom, ...] = (
    *java_connections.SYMPTOMS,
    *java_disconnections.SYMPTOMS,
    *java_security.SYMPTOMS,
    *java_metadata.SYMPTOMS,
    *java_work.SYMPTOMS,
    *java_calls.SYMPTOMS,
    *librdkafka_connections.SYMPTOMS,
    *librdkafka_security.SYMPTOMS,
    *librdkafka_work.SYMPTOMS,
    *python_tls.SYMPTOMS,
    *python_common.SYMPTOMS,
    *kafka_python.SYMPTOMS,
    *kafka_python_work.SYMPTOMS,
    *aiokafka.SYMPTOMS,
    *kafkajs.SYMPTOMS,
    *kafkajs_answers.SYMPTOMS,
    *spark.SYMPTOMS,
    *spring.SYMPTOMS,
    *brokers.SYMPTOMS,
    *own.SYMPTOMS,
)
