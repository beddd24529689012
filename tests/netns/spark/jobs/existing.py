"""A Spark job that somebody wrote before there was brokernat: one topic to another, with a login of its own.

existing.py SERVERS SOURCE TARGET JAAS_FILE
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

servers, source, target, jaas = sys.argv[1:]
spark = SparkSession.builder.appName("copy").getOrCreate()
options = {
    "kafka.bootstrap.servers": servers,
    "kafka.security.protocol": "SASL_PLAINTEXT",
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.jaas.config": Path(jaas).read_text().strip(),
}
orders = spark.read.format("kafka").options(**options).option("subscribe", source).load()
copied = orders.selectExpr("key", "value").repartition(2)
copied.write.format("kafka").options(**options).option("kafka.compression.type", "none").option("topic", target).save()
spark.stop()
