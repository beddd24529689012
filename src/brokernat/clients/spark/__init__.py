"""PySpark jobs that reach Kafka through an address map, on the driver and on every executor.

Three calls: `configure` before the session, `kafka_options` for each source and sink, `prove` before the work.
"""

from brokernat.clients.spark.configure import configure
from brokernat.clients.spark.loader import Loader
from brokernat.clients.spark.options import Role, kafka_options

__all__ = ["Loader", "Role", "configure", "kafka_options"]
