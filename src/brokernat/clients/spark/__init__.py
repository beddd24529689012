"""Address maps for PySpark jobs, on the driver and on every executor.

Call `configure` before the session, `kafka_options` for each source and sink, and `prove` before the queries; `watch`
proves executors that join later.
"""

from brokernat.clients.spark.configuring import configure
from brokernat.clients.spark.functions import check_schema, decode
from brokernat.clients.spark.options import Role, client_properties, kafka_options
from brokernat.clients.spark.proof import Outcome, Proof, ProofRow
from brokernat.clients.spark.proving import prove, watch
from brokernat.clients.spark.settings import Loader

__all__ = [
    "Loader",
    "Outcome",
    "Proof",
    "ProofRow",
    "Role",
    "check_schema",
    "client_properties",
    "configure",
    "decode",
    "kafka_options",
    "prove",
    "watch",
]
